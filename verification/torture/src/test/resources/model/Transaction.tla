------------------------------ MODULE Transaction ------------------------------
(*
The protocol of a transactional call: look-up, effect and record are one transaction of the claim's.
One key, its row, and the calls that arrive with that key and the same request, each on a server of its
own. Each action below names its SQL file.

  - Two fences keep two calls from committing: an advisory lock, which is only tried, and the unique
    index over the committed rows.
  - Statements see what was committed when they began (READ COMMITTED).
  - A call at commit runs its handler first, and sends nothing for its claim until the handler has ended:
    then the try-lock, the row and the COMMIT are one flush. The flush raises if the lock is held or any
    row stands. Before an error is answered, the key is looked up. Where another call has the key, the run
    is dropped: nothing that its handler did counts. The call starts over behind an ordinary claim, for
    which any of `Calls` stands: they begin whenever they like.
  - Beside these calls there may be one that knows nothing of the lock: a reserved call, of a time when
    the procedure was reserved (`Reserved`). See Reservation.tla for its own rules; here it joins.
  - There is no clock: leases and records may end at any moment.

What must hold is at the end. `Broken` takes rules of the protocol out, to see that it then does not
hold. Each rule is asked for by `Rule`.
*)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Calls,     \* the transactional calls with the key that claim before their handlers
  AtCommit,  \* those whose record is their claim
  Reserved,  \* the reserved call with the key
  None,      \* no call
  Endings,   \* how a handler may end, beside OK: a subset of {"release", "terminal"}
  Expiry,    \* whether records expire
  Broken     \* the set of the rules that are taken out; {} for the protocol as it is

Rules == {
  "the lock excludes",
  "the key is unique",
  "the look comes after the lock",
  "effect and record are one commit",
  "a commit that was not answered is not told",
  "only what is over is cleared",
  "a record claims its key behind the lock",
  "an error is answered after a look-up",
  "whose look-up fails is dropped",
  "an error is recorded only where nothing stands",
  "an error that is not recorded is not told",
  "what a dropped run answers is dropped",
  "a dropped run is rolled back",
  "a transaction's end frees its lock" }

ASSUME Broken \subseteq Rules
ASSUME Endings \subseteq {"release", "terminal"}

Rule(name) == name \notin Broken

VARIABLES
  row,       \* the committed row under the key
  stranger,  \* where the reserved call is: "away", "running", "over"
  lock,      \* whose transaction holds the advisory lock
  cleared,   \* whose transaction has deleted the row and not ended: holds the row's lock
  at,        \* where each call is
  tx,        \* its transaction: "none", "sent", "open", or "committing"
  won,       \* whether its transaction won the lock
  seen,      \* the row as its transaction saw it
  told,      \* OK answers that went out: operation and value; they are named after the call that ran
  effects,   \* committed effects: by whom
  fate,      \* of a run: "counts" or "dropped"
  twin,      \* the operation whose effect has made a handler fail, as when both insert one unique name
  erred,     \* calls that answered an error of their handlers, which is not on record
  failed,    \* calls that answered a terminal error
  forgotten  \* operations whose record has expired

answers == <<told, twin, erred, failed>>
vars == <<row, stranger, lock, cleared, at, tx, won, seen, effects, fate, forgotten, answers>>

All == Calls \cup AtCommit

-----------------------------------------------------------------------------

(* An operation is named after the call that made it. A failure is a terminal error on record. *)
NoRow == [by |-> None, state |-> "none", alive |-> FALSE, expired |-> FALSE]
Done(c) == [by |-> c, state |-> "done", alive |-> FALSE, expired |-> FALSE]
Failure(c) == [Done(c) EXCEPT !.state = "failure"]
Reservation == [by |-> Reserved, state |-> "open", alive |-> TRUE, expired |-> FALSE]

IsEnded(r) == r.state \in {"done", "failure"}
IsExpired(r) == r.expired /\ (IsEnded(r) \/ ~r.alive)
IsAbandoned(r) == r.state = "open" /\ ~r.alive
IsClearable(r) ==
  r # NoRow /\ (IsExpired(r) \/ IsAbandoned(r) \/ ~Rule("only what is over is cleared"))

Goes(c, where) == at' = [at EXCEPT ![c] = where]

(* The transaction is over, and with it its lock. *)
Frees(c) ==
  /\ tx' = [tx EXCEPT ![c] = "none"]
  /\ won' = [won EXCEPT ![c] = FALSE]
  /\ lock' = IF lock = c /\ Rule("a transaction's end frees its lock") THEN None ELSE lock
  /\ cleared' = IF cleared = c THEN None ELSE cleared

Forgets(c) == seen' = [seen EXCEPT ![c] = NoRow]
Ends(c) == Frees(c) /\ Forgets(c)

StartsOver(c) == Ends(c) /\ Goes(c, "claim")

Tells(c) == told' = told \cup {<<c, c>>} /\ UNCHANGED <<twin, erred, failed>>
TellsError(c) == erred' = erred \cup {c} /\ UNCHANGED <<told, twin, failed>>
TellsFailure(c) == failed' = failed \cup {c} /\ UNCHANGED <<told, twin, erred>>

-----------------------------------------------------------------------------
(* transaction/claim.sql: BEGIN and the try-lock, then the look, as a statement of its own. *)

TryLock(c) ==
  /\ at[c] = IF Rule("the look comes after the lock") THEN "claim" ELSE "second"
  /\ Goes(c, IF Rule("the look comes after the lock") THEN "second" ELSE "decide")
  /\ tx' = [tx EXCEPT ![c] = "open"]
  /\ won' = [won EXCEPT ![c] = lock = None \/ ~Rule("the lock excludes")]
  /\ lock' = IF lock = None THEN c ELSE lock
  /\ UNCHANGED <<row, stranger, cleared, seen, effects, fate, forgotten, answers>>

Look(c) ==
  /\ at[c] = IF Rule("the look comes after the lock") THEN "second" ELSE "claim"
  /\ Goes(c, IF Rule("the look comes after the lock") THEN "decide" ELSE "second")
  /\ tx' = [tx EXCEPT ![c] = "open"]
  /\ seen' = [seen EXCEPT ![c] = row]
  /\ UNCHANGED <<row, stranger, lock, cleared, won, effects, fate, forgotten, answers>>

(* What stands there is replayed; who holds the lock is in flight; what is over is cleared away first. *)
Decide(c) ==
  LET r == seen[c] IN
  /\ at[c] = "decide"
  /\ IF IsEnded(r) /\ ~IsExpired(r)
     THEN /\ told' = IF r.state = "done" THEN told \cup {<<r.by, r.by>>} ELSE told
          /\ StartsOver(c)
     ELSE /\ UNCHANGED told
          /\ IF ~won[c] \/ (r # NoRow /\ ~IsClearable(r))
             THEN StartsOver(c) \* in flight: it may as well be the next call
             ELSE /\ Goes(c, IF r = NoRow THEN "running" ELSE "clear")
                  /\ UNCHANGED <<lock, cleared, tx, won, seen>>
  /\ UNCHANGED <<row, stranger, effects, fate, forgotten, twin, erred, failed>>

(* delete_ended.sql, for the row that was seen and as it is now. Until the commit, only this transaction sees it. *)
Clear(c) ==
  /\ at[c] = "clear" /\ cleared = None
  /\ IF row.by = seen[c].by /\ IsClearable(row)
     THEN Goes(c, "running") /\ cleared' = c /\ UNCHANGED <<lock, tx, won, seen>>
     ELSE StartsOver(c)
  /\ UNCHANGED <<row, stranger, effects, fate, forgotten, answers>>

-----------------------------------------------------------------------------
(* ClaimAtCommit: the handler has begun. What it writes is in its transaction, and excludes nobody here. *)

(* Another call has the key, or may have it: all is rolled back, and the call starts over. *)
Drops(c, answer(_)) ==
  /\ Goes(c, "over") /\ Ends(c) /\ fate' = [fate EXCEPT ![c] = "dropped"]
  /\ effects' = IF Rule("a dropped run is rolled back") THEN effects ELSE effects \cup {c}
  /\ IF Rule("what a dropped run answers is dropped") THEN UNCHANGED answers ELSE answer(c)

Locks(c, where) ==
  /\ lock' = IF lock = None THEN c ELSE lock
  /\ tx' = [tx EXCEPT ![c] = "open"] /\ Goes(c, where)

(* claim_at_commit.sql: the try-lock. Then record.sql and COMMIT, in the same flush: see Commit. *)
ClaimsAtCommit(c) ==
  /\ at[c] = "early"
  /\ IF lock = None \/ ~Rule("a record claims its key behind the lock")
     THEN Locks(c, "running") /\ UNCHANGED <<cleared, won, seen, effects, fate, answers>>
     ELSE Drops(c, Tells)
  /\ UNCHANGED <<row, stranger, forgotten>>

(* The connection is cut: the flush is not answered. The database may yet get it, or never. *)
FlushIsCut(c) ==
  /\ at[c] = "early" /\ Goes(c, "over")
  /\ tx' = [tx EXCEPT ![c] = "sent"]
  /\ IF Rule("a commit that was not answered is not told") THEN UNCHANGED answers ELSE Tells(c)
  /\ UNCHANGED <<row, stranger, lock, cleared, won, seen, effects, fate, forgotten>>

ArrivesLate(c) ==
  /\ tx[c] = "sent" /\ lock = None
  /\ tx' = [tx EXCEPT ![c] = "committing"] /\ lock' = c
  /\ UNCHANGED <<row, stranger, cleared, at, won, seen, effects, fate, forgotten, answers>>

(* The handler fails, or its transaction cannot be committed; perhaps because its twin has committed. *)
Errs(c) ==
  /\ c \in AtCommit /\ at[c] \in {"early", "running"}
  /\ \/ UNCHANGED twin
     \/ \E other \in effects \ forgotten : twin' = [twin EXCEPT ![c] = other]
  /\ Ends(c)
  /\ IF Rule("an error is answered after a look-up")
     THEN Goes(c, "look up") /\ UNCHANGED erred
     ELSE Goes(c, "over") /\ erred' = erred \cup {c}
  /\ UNCHANGED <<row, stranger, effects, fate, forgotten, told, failed>>

(* find_owner.sql: the try-lock, then the look, as a statement of its own. *)
LooksUp(c) ==
  /\ at[c] = "look up"
  /\ IF lock = None
     THEN Locks(c, "looking") /\ UNCHANGED <<cleared, won, seen, effects, fate, answers>>
     ELSE Drops(c, TellsError)
  /\ UNCHANGED <<row, stranger, forgotten>>

AnswersError(c) == Goes(c, "over") /\ Ends(c) /\ TellsError(c) /\ UNCHANGED <<effects, fate>>

Finds(c) ==
  /\ at[c] = "looking"
  /\ IF row # NoRow /\ ~row.expired THEN Drops(c, TellsError) ELSE AnswersError(c)
  /\ UNCHANGED <<row, stranger, forgotten>>

LookUpFails(c) ==
  /\ at[c] \in {"look up", "looking"}
  /\ IF Rule("whose look-up fails is dropped") THEN Drops(c, TellsError) ELSE AnswersError(c)
  /\ UNCHANGED <<row, stranger, forgotten>>

(* record_failure.sql, after the rollback: the try-lock, and a row if none stands there, in one flush. *)
FailsForGood(c) ==
  /\ at[c] = "early" /\ "terminal" \in Endings
  /\ IF lock = None /\ (row = NoRow \/ ~Rule("an error is recorded only where nothing stands"))
     THEN /\ row' = Failure(c)
          /\ Goes(c, "over") /\ TellsFailure(c)
          /\ UNCHANGED <<lock, cleared, tx, won, seen, effects, fate>>
     ELSE /\ UNCHANGED row
          /\ IF Rule("an error that is not recorded is not told")
             THEN Drops(c, TellsFailure)
             ELSE /\ Goes(c, "over") /\ TellsFailure(c)
                  /\ UNCHANGED <<lock, cleared, tx, won, seen, effects, fate>>
  /\ UNCHANGED <<stranger, forgotten>>

-----------------------------------------------------------------------------
(* The handler ends. *)

(* record.sql: the finished row, unless the index knows a committed one that is not cleared. *)
IsFree(c) == row = NoRow \/ cleared = c \/ ~Rule("the key is unique")

Recorded(c) ==
  /\ row' = Done(c)
  /\ effects' = effects \cup {c}
  /\ Ends(c)

Commit(c) ==
  /\ at[c] = "running"
  /\ \/ IsFree(c) /\ Recorded(c) /\ Tells(c) /\ Goes(c, "over") /\ UNCHANGED fate
     \/ \* another row stands there: nothing remains
        /\ ~IsFree(c) /\ UNCHANGED row
        /\ IF c \in AtCommit
           THEN Drops(c, Tells)
           ELSE /\ Ends(c) /\ Goes(c, "over") /\ UNCHANGED <<answers, fate>>
                /\ effects' = IF Rule("effect and record are one commit") THEN effects
                              ELSE effects \cup {c}
     \/ \* not answered: the database decides, and nobody is told
        /\ tx' = [tx EXCEPT ![c] = "committing"] /\ Goes(c, "over")
        /\ IF Rule("a commit that was not answered is not told") THEN UNCHANGED answers ELSE Tells(c)
        /\ UNCHANGED <<row, effects, lock, cleared, won, seen, fate>>
  /\ UNCHANGED <<stranger, forgotten>>

(* The effect is rolled back: the key is free at once, or the error is recorded then. *)
Fails(c) ==
  /\ at[c] = "running" /\ c \in Calls
  /\ \/ "release" \in Endings /\ Goes(c, "over") /\ Forgets(c)
     \/ "terminal" \in Endings /\ Goes(c, "record failure") /\ UNCHANGED seen
  /\ Frees(c)
  /\ UNCHANGED <<row, stranger, effects, fate, forgotten, answers>>

(* record_failure.sql, in autocommit: clears away again what was cleared, and inserts if nothing stands there. *)
RecordFailure(c) ==
  /\ at[c] = "record failure" /\ cleared = None
  /\ IF row = NoRow \/ (row.by = seen[c].by /\ IsClearable(row))
     THEN row' = Failure(c) /\ TellsFailure(c)
     ELSE UNCHANGED <<row, answers>>
  /\ Goes(c, "over") /\ Forgets(c)
  /\ UNCHANGED <<stranger, lock, cleared, tx, won, effects, fate, forgotten>>

(* Where a call has no transaction. *)
Idle == {"claim", "over", "early", "look up"}

(* The server dies, or its connection is cut: the database notices in its own time. *)
Dies(c) ==
  /\ at[c] \notin Idle
  /\ Goes(c, "over")
  /\ UNCHANGED <<row, stranger, lock, cleared, tx, won, seen, effects, fate, forgotten, answers>>

-----------------------------------------------------------------------------
(* What goes on beside the calls. *)

(* The database ends a transaction that nobody else will end. *)
EndsTransaction(c) ==
  /\ at[c] = "over" /\ tx[c] # "none"
  /\ \/ tx[c] = "committing" /\ IsFree(c) /\ Recorded(c)
     \/ Ends(c) /\ UNCHANGED <<row, effects>>
  /\ UNCHANGED <<stranger, at, fate, forgotten, answers>>

(* claim/claim.sql of the reserved call: it inserts where it sees no committed row. *)
StrangerReserves ==
  /\ stranger = "away" /\ row = NoRow
  /\ row' = Reservation /\ stranger' = "running"
  /\ UNCHANGED <<lock, cleared, at, tx, won, seen, effects, fate, forgotten, answers>>

(* complete.sql, with the effect: waits for a transaction that deletes the row. *)
StrangerCompletes ==
  /\ stranger = "running" /\ cleared = None
  /\ stranger' = "over"
  /\ IF row.by = Reserved /\ row.state = "open"
     THEN /\ row' = Done(Reserved) /\ effects' = effects \cup {Reserved}
          /\ told' = told \cup {<<Reserved, Reserved>>}
     ELSE UNCHANGED <<row, effects, told>>
  /\ UNCHANGED <<lock, cleared, at, tx, won, seen, fate, forgotten, twin, erred, failed>>

StrangerDies ==
  /\ stranger = "running" /\ stranger' = "over"
  /\ UNCHANGED <<row, lock, cleared, at, tx, won, seen, effects, fate, forgotten, answers>>

LeaseEnds ==
  /\ row.state = "open" /\ row.alive
  /\ row' = [row EXCEPT !.alive = FALSE]
  /\ UNCHANGED <<stranger, lock, cleared, at, tx, won, seen, effects, fate, forgotten, answers>>

(* The retention ends. *)
Expires ==
  /\ Expiry /\ row # NoRow /\ ~row.expired /\ (IsEnded(row) \/ ~row.alive)
  /\ row' = [row EXCEPT !.expired = TRUE]
  /\ forgotten' = IF IsEnded(row) THEN forgotten \cup {row.by} ELSE forgotten
  /\ UNCHANGED <<stranger, lock, cleared, at, tx, won, seen, effects, fate, answers>>

(* sweep_expired: skips a row that is locked. *)
Sweep ==
  /\ IsExpired(row) /\ cleared = None
  /\ row' = NoRow
  /\ UNCHANGED <<stranger, lock, cleared, at, tx, won, seen, effects, fate, forgotten, answers>>

-----------------------------------------------------------------------------

Init ==
  /\ row = NoRow /\ stranger = "away" /\ lock = None /\ cleared = None
  /\ at = [c \in All |-> IF c \in AtCommit THEN "early" ELSE "claim"]
  /\ tx = [c \in All |-> "none"]
  /\ won = [c \in All |-> FALSE]
  /\ seen = [c \in All |-> NoRow]
  /\ fate = [c \in All |-> "counts"]
  /\ twin = [c \in All |-> None]
  /\ told = {} /\ erred = {} /\ failed = {} /\ effects = {} /\ forgotten = {}

Step(c) ==
  \/ TryLock(c) \/ Look(c) \/ Decide(c) \/ Clear(c)
  \/ ClaimsAtCommit(c) \/ FlushIsCut(c) \/ ArrivesLate(c)
  \/ Errs(c) \/ LooksUp(c) \/ Finds(c) \/ LookUpFails(c) \/ FailsForGood(c)
  \/ Commit(c) \/ Fails(c) \/ RecordFailure(c)
  \/ Dies(c) \/ EndsTransaction(c)

Beside == StrangerReserves \/ StrangerCompletes \/ StrangerDies \/ LeaseEnds \/ Expires \/ Sweep

Next == Beside \/ \E c \in All : Step(c)

(* A lease that nobody renews ends, and so does a transaction that nobody else ends. *)
Fairness == WF_vars(LeaseEnds) /\ \A c \in All : WF_vars(EndsTransaction(c))

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ Fairness

Symmetry == Permutations(Calls) \cup Permutations(AtCommit)

-----------------------------------------------------------------------------
(* What must hold. *)

Anybody == All \cup {Reserved}

TypeOK ==
  /\ row \in [by : Anybody \cup {None}, state : {"none", "open", "done", "failure"},
              alive : BOOLEAN, expired : BOOLEAN]
  /\ stranger \in {"away", "running", "over"}
  /\ lock \in All \cup {None} /\ cleared \in All \cup {None}
  /\ at \in [All -> {"early", "look up", "looking", "claim", "second", "decide", "clear", "running",
                     "record failure", "over"}]
  /\ tx \in [All -> {"none", "sent", "open", "committing"}]
  /\ fate \in [All -> {"counts", "dropped"}]
  /\ twin \in [All -> Anybody \cup {None}] /\ erred \subseteq All /\ failed \subseteq All
  /\ told \subseteq Anybody \X Anybody /\ effects \subseteq Anybody /\ forgotten \subseteq Anybody

(* Effect and record are one commit: never two of them, whatever happens. *)
JoinedEffectAtMostOnce == Cardinality(effects \ forgotten) <= 1

(* One owner's settlement counts: the effect there is, is that of the record there is. *)
OneSettlement == \A c \in effects \ forgotten : row.by = c /\ row.state = "done"

(* An OK is on record until it expires, so it is what every retry gets. *)
OkIsWhatRetriesGet ==
  \A t \in told : t[1] \in forgotten \/ (row.by = t[1] /\ row.state = "done")

(* An OK tells of an effect, and a recorded answer too. *)
OkHasEffect ==
  /\ \A t \in told : t[1] \in effects
  /\ row.state = "done" => row.by \in effects

(* And so is a terminal error that was answered. *)
FailureIsWhatRetriesGet ==
  \A c \in failed : c \in forgotten \/ (row.by = c /\ row.state = "failure")

(* No client gets the error of a handler that failed because its twin has committed. *)
TwinIsNoError == \A c \in erred : twin[c] \in forgotten \cup {None}

(* What a dropped run wrote or answered counts nowhere. *)
DroppedLeavesNothing ==
  \A c \in AtCommit : fate[c] = "dropped" =>
    c \notin effects \cup erred \cup failed /\ <<c, c>> \notin told /\ row.by # c

(* No handler that has claimed its key runs in vain, beside a record that a call like it has made. *)
NoRunBesideRecord ==
  \A c \in Calls : at[c] = "running" /\ row.state = "done" => row.expired \/ row.by = Reserved

(* The reservation of a living owner is left alone. *)
LivingReservationStands == cleared # None => ~(row.state = "open" /\ row.alive)

(* Where nobody's transaction is open, a new claim is answered, or runs. *)
IsFreeForAll == lock = None /\ cleared = None /\ (row = NoRow \/ IsEnded(row) \/ IsClearable(row))
AbandonedKeyIsFree ==
  (\A c \in All : tx[c] = "none") /\ ~(row.state = "open" /\ row.alive) => IsFreeForAll

(* And that time comes, once the calls are over. *)
KeyBecomesFree ==
  (stranger # "running" /\ \A c \in All : at[c] \in Idle) ~>
    (IsFreeForAll \/ \E c \in All : at[c] \notin Idle)

(* A completed record does not change before it expires. *)
RecordStands ==
  [][IsEnded(row) /\ ~row.expired => row' = row \/ row' = [row EXCEPT !.expired = TRUE]]_row

=============================================================================
