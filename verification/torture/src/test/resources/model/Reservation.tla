------------------------------ MODULE Reservation ------------------------------
(*
The protocol of a reserved call, as the engine and the PostgreSQL store run it: one key, its row, and
the calls that arrive with that key and the same request. Each call stands for a server of its own.

  - A call is a sequence of statements. A statement is atomic in the database (its flush is one
    transaction), but its answer may be lost: the statement has then been run, or is never run, or is
    run later, when nobody waits for it any more (`late`). Each action below names its SQL file.
  - There is no clock. A lease may end at any moment unless it has been renewed just then
    (`LeaseEnds`), so a server may be slow, frozen, or cut off for any length of time. A record may
    expire at any moment, but not while a statement is late: no packet survives a retention.
  - Any call may die at any moment. A crash of the database ends open transactions (`EndsTransaction`), and loses
    nothing that was committed.
  - A batch (claim_batch.sql, complete_batch.sql, release_batch.sql, and find.sql several times) is not an
    action of its own, because it refines the actions of its calls. Each row of it is one action: `Run` of
    the call's own statement. All rows are one commit, and no row depends on another: their keys differ, or
    the unique constraint refuses the second row, and no call reads another call's result. A batch commits
    or is rolled back as a whole, so a batch whose answer does not arrive is `Unanswered` for each call. If
    the database reports that it has rolled the batch back, or if the batch skips a row, the call's own
    statement follows, and only this statement is an action.

What must hold is at the end. `Broken` takes rules of the protocol out, to see that it then does not
hold. Each rule is asked for by `Rule`.
*)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Calls,     \* the calls with the key
  None,      \* no call
  Forms,     \* how effect and record are brought together: a subset of {"separate", "joined"}
  Endings,   \* how a handler may end, beside OK: a subset of {"release", "hold", "terminal"}
  MaxLost,   \* how many flushes of one claim may go unanswered and be sent again
  MaxLate,   \* how many statements may be late at a time
  Expiry,    \* whether records expire
  Crashes,   \* whether servers may die
  Broken     \* the set of the rules that are taken out; {} for the protocol as it is

Rules == {
  "an own row is ours only while it is untouched",
  "an id is inserted by one flush only",
  "takeover waits for the end of the lease",
  "takeover raises the attempt",
  "what is abandoned is taken over",
  "completion names the attempt",
  "completion is fenced",
  "a joined completion that finds the claim lost rolls back",
  "release names the attempt",
  "release leaves records alone",
  "late recording never releases",
  "an owner that lost the claim does not answer",
  "the answer is recorded before it is sent",
  "only what has expired is replaced",
  "only what has expired is swept",
  "an ended call is renewed no more",
  "renewal names the attempt" }

ASSUME Broken \subseteq Rules
ASSUME Forms \subseteq {"separate", "joined"}
ASSUME Endings \subseteq {"release", "hold", "terminal"}
ASSUME Crashes \in BOOLEAN

Rule(name) == name \notin Broken

VARIABLES
  form,      \* of the procedure; it does not change
  row,       \* the committed row under the key
  lock,      \* whose transaction has updated the row and not ended: holds the row's lock
  late,      \* statements under way whose sender has stopped waiting
  at,        \* where each call is
  lost,      \* how many flushes of each claim may have left a row that it does not own
  seen,      \* the row as the call's claim last saw it
  fence,     \* what a call won: the row's id and attempt
  tx,        \* the handler's own transaction, where it joins: "none", "open", or "committing"
  told,      \* OK answers that went out: operation and value
  settled,   \* whom the store told that a completion counts: operation and call
  effects,   \* committed effects: the fence under which they were made, and by whom
  lapsed,    \* fences whose lease has ended
  forgotten  \* operations whose record has expired

vars == <<form, row, lock, late, at, lost, seen, fence, tx, told, settled, effects, lapsed, forgotten>>
Clients == <<told, settled, effects>>

-----------------------------------------------------------------------------
(* The row, and what the statements make of it. *)

(* An operation's id: the claim that made it, and the flush of that claim. *)
Id(c, n) == <<c, IF Rule("an id is inserted by one flush only") THEN n ELSE 0>>
NoId == <<None, 0>>
NoFence == <<NoId, 0>>
NoRow == [id |-> NoId, attempt |-> 0, state |-> "none", alive |-> FALSE, expired |-> FALSE, value |-> None]

Reserved(id) ==
  [id |-> id, attempt |-> 1, state |-> "open", alive |-> TRUE, expired |-> FALSE, value |-> None]

FenceOf(r) == <<r.id, r.attempt>>
IsOpen(r) == r.state = "open"
IsDone(r) == r.state = "done"
(* Expired is absent; but an operation that still runs is not. *)
IsExpired(r) == r.expired /\ (IsDone(r) \/ ~r.alive)
IsReplaceable(r) == IsExpired(r) \/ (~Rule("only what has expired is replaced") /\ IsDone(r))

(* Claiming's verdict on what it saw. *)
Verdict(r) ==
  IF IsReplaceable(r) THEN "expired"
  ELSE IF IsDone(r) THEN "recorded"
  ELSE IF ~r.alive \/ ~Rule("takeover waits for the end of the lease") THEN "abandoned"
  ELSE "in flight"

Statement(kind, c, id, attempt) == [kind |-> kind, call |-> c, id |-> id, attempt |-> attempt]

Names(s) == row.id = s.id /\ row.attempt = s.attempt

(* Only these wait for a row's lock; the others skip a row that is locked, or do not need it. *)
MustWait(s) ==
  /\ lock # None
  /\ s.kind \in {"complete", "release"} \/ (s.kind = "reclaim" /\ IsExpired(row))

(* claim.sql, claim.sql with delete_expired.sql ("reclaim"), take_over.sql, complete.sql, release.sql: the row
   after the statement. *)
After(s) ==
  CASE s.kind = "claim" ->
         IF row = NoRow THEN Reserved(s.id) ELSE row
    [] s.kind = "reclaim" ->
         IF row = NoRow \/ IsReplaceable(row) THEN Reserved(s.id) ELSE row
    [] s.kind = "take over" ->
         IF /\ Names(s) /\ IsOpen(row) /\ lock = None
            /\ ~row.alive \/ ~Rule("takeover waits for the end of the lease")
            /\ Rule("what is abandoned is taken over")
         THEN [row EXCEPT !.alive = TRUE,
                          !.attempt = IF Rule("takeover raises the attempt") THEN @ + 1 ELSE @]
         ELSE row
    [] s.kind = "complete" ->
         IF \/ Names(s) /\ IsOpen(row)
            \/ ~Rule("completion names the attempt") /\ row.id = s.id /\ IsOpen(row)
            \/ ~Rule("completion is fenced") /\ row.id = s.id
         THEN [row EXCEPT !.state = "done", !.alive = FALSE, !.value = s.call]
         ELSE row
    [] s.kind = "release" ->
         IF \/ Names(s) /\ IsOpen(row)
            \/ ~Rule("release names the attempt") /\ row.id = s.id /\ IsOpen(row)
            \/ ~Rule("release leaves records alone") /\ Names(s)
         THEN NoRow
         ELSE row

(* The statement is run. *)
Run(s) ==
  /\ ~MustWait(s)
  /\ row' = After(s)
  /\ forgotten' = IF IsDone(row') /\ IsExpired(row') THEN forgotten \cup {row'.id} ELSE forgotten

(* Its answer does not arrive: it was run, never will be, or will be later. *)
Unanswered(s) ==
  \/ Run(s) /\ UNCHANGED late
  \/ UNCHANGED <<row, forgotten, late>>
  \/ Cardinality(late) < MaxLate /\ late' = late \cup {s} /\ UNCHANGED <<row, forgotten>>

-----------------------------------------------------------------------------
(* Claiming. *)

Goes(c, where) == at' = [at EXCEPT ![c] = where]
Forgets(c) == seen' = [seen EXCEPT ![c] = NoRow]

(* Nothing came of the call. Unless a flush of its may still be run, it may as well be the next one. *)
Leaves(c) == Goes(c, IF lost[c] = 0 THEN "claim" ELSE "over") /\ Forgets(c)

(* A flush of the call may have inserted a row that it does not own now: the next one has an id of its own. *)
GoesOn(c) ==
  /\ IF lost[c] < MaxLost
     THEN lost' = [lost EXCEPT ![c] = @ + 1] /\ Goes(c, "claim")
     ELSE Goes(c, "over") /\ UNCHANGED lost
  /\ Forgets(c)

(* The handler runs; but first the lease is extended, if it may be about to end: an answer was lost, or late. *)
Wins(c, id, attempt, where) ==
  /\ Goes(c, where)
  /\ fence' = [fence EXCEPT ![c] = <<id, attempt>>]
  /\ Forgets(c)

(* The reservation is inserted, or what stands there is seen. *)
Reserve(c, kind, where) ==
  LET s == Statement(kind, c, Id(c, lost[c]), 1) IN
  /\ at[c] = where
  /\ \/ /\ Run(s)
        /\ seen' = [seen EXCEPT ![c] = row']
        /\ Goes(c, "decide")
        /\ UNCHANGED <<late, lost>>
     \/ Unanswered(s) /\ GoesOn(c)
  /\ UNCHANGED <<form, lock, fence, tx, Clients, lapsed>>

Claim(c) == Reserve(c, "claim", "claim")
Reclaim(c) == Reserve(c, "reclaim", "reclaim")

IsOwn(c, r) == r.id[1] = c
IsUntouched(r) == r.attempt = 1 /\ IsOpen(r) /\ r.alive

(* What stands there is won, recorded, abandoned, expired, or held by another call. *)
Decide(c) ==
  LET r == seen[c]
      own == IsOwn(c, r) /\ (IsUntouched(r) \/ ~Rule("an own row is ours only while it is untouched"))
  IN
  /\ at[c] = "decide"
  /\ IF own
     THEN /\ Wins(c, r.id, r.attempt, "extend") \/ (lost[c] = 0 /\ Wins(c, r.id, r.attempt, "running"))
          /\ UNCHANGED told
     ELSE
       /\ CASE Verdict(r) = "expired" -> Goes(c, "reclaim") /\ Forgets(c) /\ UNCHANGED told
            [] Verdict(r) = "recorded" -> Leaves(c) /\ told' = told \cup {<<r.id, r.value>>} \* a replay
            [] Verdict(r) = "abandoned" -> Goes(c, "take over") /\ UNCHANGED <<seen, told>>
            [] Verdict(r) = "in flight" -> Leaves(c) /\ UNCHANGED told
       /\ UNCHANGED fence
  /\ UNCHANGED <<form, row, lock, late, lost, tx, settled, effects, lapsed, forgotten>>

(* extend.sql: by the fence, and only while the lease lives. Zero rows, or late again: look again. *)
Extend(c) ==
  LET holds ==
    /\ IsOpen(row) /\ FenceOf(row) = fence[c]
    /\ row.alive \/ ~Rule("an own row is ours only while it is untouched")
  IN
  /\ at[c] = "extend" /\ lock = None
  /\ \/ holds /\ Goes(c, "running") /\ UNCHANGED <<lost, seen, fence>>
     \/ GoesOn(c) /\ fence' = [fence EXCEPT ![c] = NoFence]
     \/ Goes(c, "over") /\ Forgets(c) /\ UNCHANGED <<lost, fence>> \* unanswered
  /\ UNCHANGED <<form, row, lock, late, tx, Clients, lapsed, forgotten>>

(* take_over.sql, for what was seen. *)
TakeOver(c) ==
  LET s == Statement("take over", c, seen[c].id, seen[c].attempt) IN
  /\ at[c] = "take over"
  /\ \/ /\ Run(s)
        /\ IF row' # row \/ (~Rule("takeover raises the attempt") /\ Names(s) /\ IsOpen(row) /\ ~row.alive)
           THEN \E where \in {"running", "extend"} : Wins(c, row'.id, row'.attempt, where)
           ELSE Goes(c, "claim") /\ Forgets(c) /\ UNCHANGED fence
        /\ UNCHANGED late
     \/ Unanswered(s) /\ Goes(c, "over") /\ Forgets(c) /\ UNCHANGED fence
  /\ UNCHANGED <<form, lock, lost, tx, Clients, lapsed>>

-----------------------------------------------------------------------------
(* The handler runs. *)

HasEffect(c) == effects' = effects \cup {<<fence[c], c>>}

(* A handler whose effect is a commit of its own, in the store's database or elsewhere. *)
Acts(c) ==
  /\ at[c] = "running" /\ form = "separate"
  /\ HasEffect(c)
  /\ \/ Goes(c, "complete")
     \/ "hold" \in Endings /\ Goes(c, "over")
  /\ told' = IF Rule("the answer is recorded before it is sent") THEN told
             ELSE told \cup {<<fence[c][1], c>>}
  /\ UNCHANGED <<form, row, lock, late, lost, seen, fence, tx, settled, lapsed, forgotten>>

(* It fails before its effect, or rolls it back: to be released, held, or recorded as terminal. *)
Fails(c) ==
  /\ at[c] = "running"
  /\ \/ "release" \in Endings /\ Goes(c, "release")
     \/ "hold" \in Endings /\ Goes(c, "over")
     \/ "terminal" \in Endings /\ Goes(c, "record error")
  /\ UNCHANGED <<form, row, lock, late, lost, seen, fence, tx, Clients, lapsed, forgotten>>

(* TransactionalCompletion: join.sql within the handler's transaction. If it raises, that rolls back. *)
Joins(c) ==
  LET s == Statement("complete", c, fence[c][1], fence[c][2]) IN
  /\ at[c] = "running" /\ form = "joined"
  /\ tx[c] = "none" /\ lock = None
  /\ IF After(s) # row
     THEN Goes(c, "joined") /\ lock' = c /\ tx' = [tx EXCEPT ![c] = "open"]
     ELSE IF Rule("a joined completion that finds the claim lost rolls back")
     THEN Goes(c, "over") /\ UNCHANGED <<lock, tx>>
     ELSE Goes(c, "joined") /\ tx' = [tx EXCEPT ![c] = "open"] /\ UNCHANGED lock
  /\ UNCHANGED <<form, row, late, lost, seen, fence, Clients, lapsed, forgotten>>

(* The database commits effect and record, and frees the row. *)
Committed(c) ==
  /\ HasEffect(c)
  /\ tx' = [tx EXCEPT ![c] = "none"]
  /\ IF lock = c
     THEN /\ row' = [row EXCEPT !.state = "done", !.alive = FALSE, !.value = c]
          /\ settled' = settled \cup {<<row.id, c>>}
          /\ forgotten' = IF row.expired THEN forgotten \cup {row.id} ELSE forgotten
          /\ lock' = None
     ELSE UNCHANGED <<row, settled, lock, forgotten>>

RolledBack(c) ==
  /\ tx' = [tx EXCEPT ![c] = "none"]
  /\ lock' = IF lock = c THEN None ELSE lock
  /\ UNCHANGED <<row, settled, effects, forgotten>>

(* The handler commits. If no answer comes it fails, and the database decides when it decides. *)
Commits(c) ==
  /\ at[c] = "joined"
  /\ \/ Committed(c) /\ Goes(c, "answer")
     \/ RolledBack(c) /\ Goes(c, "running") \* and may try again
     \/ /\ tx' = [tx EXCEPT ![c] = "committing"] /\ Goes(c, "release")
        /\ UNCHANGED <<row, lock, settled, effects, forgotten>>
  /\ UNCHANGED <<form, late, lost, seen, fence, told, lapsed>>

(* What was committed is answered, or the handler fails after all: retries then get what is recorded. *)
Answers(c) ==
  /\ at[c] = "answer"
  /\ \/ told' = told \cup {<<fence[c][1], c>>} /\ Goes(c, "over")
     \/ UNCHANGED told /\ Goes(c, "release")
  /\ UNCHANGED <<form, row, lock, late, lost, seen, fence, tx, settled, effects, lapsed, forgotten>>

-----------------------------------------------------------------------------
(* Settling: Settler, LateSettler, Reservation. *)

IsSettledBy(s) == row' # row \/ (Names(s) /\ IsDone(row)) \* complete.sql, and else is_completed.sql

(* The answer is recorded, then sent. While the store does not answer, LateSettler tries again. *)
Complete(c) ==
  LET s == Statement("complete", c, fence[c][1], fence[c][2]) IN
  /\ at[c] = "complete"
  /\ \/ /\ Run(s)
        /\ Goes(c, "over")
        /\ IF IsSettledBy(s) \/ ~Rule("an owner that lost the claim does not answer")
           THEN told' = told \cup {<<fence[c][1], c>>}
           ELSE UNCHANGED told
        /\ settled' = IF IsSettledBy(s) THEN settled \cup {<<fence[c][1], c>>} ELSE settled
        /\ UNCHANGED late
     \/ /\ Unanswered(s)
        /\ Goes(c, IF Rule("late recording never releases") THEN "complete" ELSE "release")
        /\ UNCHANGED <<told, settled>>
  /\ UNCHANGED <<form, lock, lost, seen, fence, tx, effects, lapsed>>

(* A terminal error is recorded; if nobody knows whether it was, the lease is left to end. *)
RecordError(c) ==
  LET s == Statement("complete", c, fence[c][1], fence[c][2]) IN
  /\ at[c] = "record error"
  /\ \/ Run(s) /\ UNCHANGED late
        /\ settled' = IF IsSettledBy(s) THEN settled \cup {<<fence[c][1], c>>} ELSE settled
     \/ Unanswered(s) /\ UNCHANGED settled
  /\ Goes(c, "over")
  /\ UNCHANGED <<form, lock, lost, seen, fence, tx, told, effects, lapsed>>

(* release.sql, once. If nobody knows whether it was run, the lease is left to end. *)
Release(c) ==
  LET s == Statement("release", c, fence[c][1], fence[c][2]) IN
  /\ at[c] = "release"
  /\ (Run(s) /\ UNCHANGED late) \/ Unanswered(s)
  /\ Goes(c, "over")
  /\ UNCHANGED <<form, lock, lost, seen, fence, tx, Clients, lapsed>>

(* The server is killed, or closes, or the call is dropped: nothing settles it, and nobody renews it. *)
Dies(c) ==
  /\ Crashes
  /\ at[c] \notin {"claim", "over"} \/ (at[c] = "claim" /\ lost[c] > 0)
  /\ Goes(c, "over") /\ Forgets(c)
  /\ UNCHANGED <<form, row, lock, late, lost, fence, tx, Clients, lapsed, forgotten>>

-----------------------------------------------------------------------------
(* What goes on beside the calls. *)

Owning == {"running", "joined", "answer", "complete", "record error", "release"}
IsOwner(c) == at[c] \in Owning

(* LeaseKeeper holds it, so it is renewed. *)
IsKept(c) ==
  /\ IsOwner(c) \/ (~Rule("an ended call is renewed no more") /\ at[c] = "over")
  /\ \/ fence[c] = FenceOf(row)
     \/ ~Rule("renewal names the attempt") /\ fence[c][1] = row.id

(* renew.sql. A lease that has ended may still be renewed, as long as nobody has taken over. *)
Renew(c) ==
  /\ IsKept(c) /\ IsOpen(row) /\ ~row.alive /\ lock = None
  /\ row' = [row EXCEPT !.alive = TRUE]
  /\ UNCHANGED <<form, lock, late, at, lost, seen, fence, tx, Clients, lapsed, forgotten>>

(* Its owner is dead, or could not renew it in time. *)
LeaseEnds ==
  /\ IsOpen(row) /\ row.alive
  /\ row' = [row EXCEPT !.alive = FALSE]
  /\ lapsed' = lapsed \cup {FenceOf(row)}
  /\ UNCHANGED <<form, lock, late, at, lost, seen, fence, tx, Clients, forgotten>>

(* The retention ends; so it has for every statement that is late. *)
Expires ==
  /\ Expiry
  /\ late = {} /\ row # NoRow /\ ~row.expired /\ (IsDone(row) \/ ~row.alive)
  /\ row' = [row EXCEPT !.expired = TRUE]
  /\ forgotten' = IF IsDone(row) THEN forgotten \cup {row.id} ELSE forgotten
  /\ UNCHANGED <<form, lock, late, at, lost, seen, fence, tx, Clients, lapsed>>

(* sweep_expired *)
Sweep ==
  /\ row # NoRow /\ lock = None
  /\ IsExpired(row) \/ ~Rule("only what has expired is swept")
  /\ row' = NoRow
  /\ UNCHANGED <<form, lock, late, at, lost, seen, fence, tx, Clients, lapsed, forgotten>>

(* A statement is run that nobody waits for any more. *)
RunsLate(s) ==
  /\ Run(s)
  /\ late' = late \ {s}
  /\ UNCHANGED <<form, lock, at, lost, seen, fence, tx, Clients, lapsed>>

(* The database ends a transaction whose handler is not there to end it. *)
EndsTransaction(c) ==
  /\ at[c] # "joined"
  /\ \/ tx[c] = "committing" /\ Committed(c)
     \/ tx[c] # "none" /\ RolledBack(c)
  /\ UNCHANGED <<form, late, at, lost, seen, fence, told, lapsed>>

-----------------------------------------------------------------------------

Init ==
  /\ form \in Forms
  /\ row = NoRow /\ lock = None /\ late = {}
  /\ at = [c \in Calls |-> "claim"]
  /\ lost = [c \in Calls |-> 0]
  /\ seen = [c \in Calls |-> NoRow]
  /\ fence = [c \in Calls |-> NoFence]
  /\ tx = [c \in Calls |-> "none"]
  /\ told = {} /\ settled = {} /\ effects = {} /\ lapsed = {} /\ forgotten = {}

Step(c) ==
  \/ Claim(c) \/ Reclaim(c) \/ Decide(c) \/ Extend(c) \/ TakeOver(c)
  \/ Acts(c) \/ Fails(c) \/ Joins(c) \/ Commits(c) \/ Answers(c)
  \/ Complete(c) \/ RecordError(c) \/ Release(c) \/ Dies(c) \/ Renew(c)

Beside ==
  \/ LeaseEnds \/ Expires \/ Sweep
  \/ \E s \in late : RunsLate(s)
  \/ \E c \in Calls : EndsTransaction(c)

Next == Beside \/ \E c \in Calls : Step(c)

(* Time passes, if nobody holds it up; and the database ends what nobody else will. *)
Fairness ==
  /\ WF_vars(LeaseEnds /\ ~\E c \in Calls : IsKept(c))
  /\ \A c \in Calls : WF_vars(EndsTransaction(c))
  /\ \A c \in Calls : WF_vars(Claim(c) \/ Decide(c) \/ Extend(c))

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ Fairness

(* The calls can be told apart by nothing but their name. *)
Symmetry == Permutations(Calls)

-----------------------------------------------------------------------------
(* What must hold. *)

Ids == {Id(c, n) : c \in Calls, n \in 0..(MaxLost + 1)} \cup {NoId}
Attempts == 0..(Cardinality(Calls) * (MaxLost + 1) + 1)
Fences == Ids \X Attempts

TypeOK ==
  /\ row \in [id : Ids, attempt : Attempts, state : {"none", "open", "done"},
              alive : BOOLEAN, expired : BOOLEAN, value : Calls \cup {None}]
  /\ lock \in Calls \cup {None}
  /\ at \in [Calls -> Owning \cup {"claim", "decide", "extend", "take over", "reclaim", "over"}]
  /\ tx \in [Calls -> {"none", "open", "committing"}]
  /\ fence \in [Calls -> Fences]
  /\ told \subseteq Ids \X Calls /\ settled \subseteq Ids \X Calls
  /\ effects \subseteq Fences \X Calls /\ lapsed \subseteq Fences /\ forgotten \subseteq Ids

(* No two calls that may still settle hold the same fence. *)
FenceIsUnique ==
  \A c, d \in Calls : IsOwner(c) /\ IsOwner(d) /\ fence[c] = fence[d] => c = d

(* One owner's settlement counts: nobody else is told that his does, and it is the present owner's. *)
OneSettlement ==
  /\ \A s, t \in settled : s[1] = t[1] => s = t
  /\ IsDone(row) => fence[row.value] = FenceOf(row)

(* An OK is on record until it expires, so it is what every retry gets; and it is the operation's only one. *)
OkIsWhatRetriesGet ==
  \A t \in told :
    /\ t[1] \in forgotten \/ (row.id = t[1] /\ IsDone(row) /\ row.value = t[2])
    /\ \A u \in told : t[1] = u[1] => t = u

Counted == {e \in effects : e[1][1] \notin forgotten}

(* Effect and record are one commit: never two of them, whatever happens. *)
JoinedEffectAtMostOnce == form = "joined" => Cardinality(Counted) <= 1

(* They are not: of several effects, all but one were made by owners whose lease had ended, or whom the
   database forgot. *)
NoUnexplainedEffect == Cardinality({e \in Counted : e[1] \notin lapsed}) <= 1

(* As long as leases are renewed in time, one call owns the key. *)
HasKept(c) == IsOwner(c) /\ fence[c] \notin lapsed /\ fence[c][1] \notin forgotten
OneLiveOwner == \A c, d \in Calls : HasKept(c) /\ HasKept(d) => c = d

(* What a new claim finds lets it run, or answers it. *)
IsUsable ==
  CASE row = NoRow -> TRUE
    [] row # NoRow /\ Verdict(row) = "recorded" -> TRUE
    [] row # NoRow /\ Verdict(row) = "expired" ->
         lock = None /\ After(Statement("reclaim", None, NoId, 1)) # row
    [] row # NoRow /\ Verdict(row) = "abandoned" ->
         After(Statement("take over", None, row.id, row.attempt)) # row
    [] OTHER -> FALSE

IsOwned == \E c \in Calls : IsOwner(c) /\ fence[c] = FenceOf(row)

(* A lease after its last owner died, a key is free, unless a transaction is about to complete it. *)
AbandonedKeyIsFree == IsOpen(row) /\ ~row.alive /\ ~IsOwned /\ lock = None => IsUsable

(* And that time comes. *)
KeyBecomesFree == (IsOpen(row) /\ ~IsOwned) ~> (IsUsable \/ IsOwned)

(* A completed record does not change before it expires. *)
RecordStands ==
  [][IsDone(row) /\ ~row.expired => row' = row \/ row' = [row EXCEPT !.expired = TRUE]]_row

=============================================================================
