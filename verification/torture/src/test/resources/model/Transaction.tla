------------------------------ MODULE Transaction ------------------------------
(*
The protocol of a transactional call: look-up, effect and record are one transaction of the claim's.
One key, its row, and the calls that arrive with that key and the same request, each on a server of its
own. Each action below names its SQL file.

  - Two fences keep two calls from committing: an advisory lock, which is only tried, and the unique
    index over the committed rows.
  - Statements see what was committed when they began (READ COMMITTED).
  - A late call runs its handler first, and claims with the handler's first statement, in one flush: the
    try-lock, the look, and the handler's own. The flush raises if the lock is held or any row stands.
    Then the run is dropped: nothing that its handler does counts. The call starts over behind an
    ordinary claim, for which any of `Calls` stands: they begin whenever they like.
  - Beside these calls there may be one that knows nothing of the lock: a reserved call, of a time when
    the procedure was reserved (`Reserved`). See Reservation.tla for its own rules; here it joins.
  - There is no clock: leases and records may end at any moment.

What must hold is at the end. `Broken` takes rules of the protocol out, to see that it then does not
hold. Each rule is asked for by `Rule`.
*)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Calls,     \* the transactional calls with the key that claim before their handlers
  Late,      \* those that claim with their handler's first statement
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
  "a first statement runs only behind its lock",
  "a late look comes after the lock",
  "a handler without a statement is claimed at its end",
  "a run whose first statement failed records no answer",
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
  fate,      \* of a run: "counts", "failed" with its first statement, or "dropped"
  forgotten  \* operations whose record has expired

vars == <<row, stranger, lock, cleared, at, tx, won, seen, told, effects, fate, forgotten>>

All == Calls \cup Late

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

Drops(c) == Goes(c, "over") /\ fate' = [fate EXCEPT ![c] = "dropped"]

(* The transaction is over. A late call that was not claimed until its handler had ended has run in vain. *)
StartsOver(c) ==
  /\ Ends(c)
  /\ IF c \in Late THEN Drops(c) ELSE Goes(c, "claim") /\ UNCHANGED fate

-----------------------------------------------------------------------------
(* transaction/claim.sql: BEGIN and the try-lock, then the look, as a statement of its own. *)

TryLock(c) ==
  /\ at[c] = IF Rule("the look comes after the lock") THEN "claim" ELSE "second"
  /\ Goes(c, IF Rule("the look comes after the lock") THEN "second" ELSE "decide")
  /\ tx' = [tx EXCEPT ![c] = "open"]
  /\ won' = [won EXCEPT ![c] = lock = None \/ ~Rule("the lock excludes")]
  /\ lock' = IF lock = None THEN c ELSE lock
  /\ UNCHANGED <<row, stranger, cleared, seen, told, effects, fate, forgotten>>

Look(c) ==
  /\ at[c] = IF Rule("the look comes after the lock") THEN "second" ELSE "claim"
  /\ Goes(c, IF Rule("the look comes after the lock") THEN "decide" ELSE "second")
  /\ tx' = [tx EXCEPT ![c] = "open"]
  /\ seen' = [seen EXCEPT ![c] = row]
  /\ UNCHANGED <<row, stranger, lock, cleared, won, told, effects, fate, forgotten>>

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
                  /\ UNCHANGED <<lock, cleared, tx, won, seen, fate>>
  /\ UNCHANGED <<row, stranger, effects, forgotten>>

(* delete_ended.sql, for the row that was seen and as it is now. Until the commit, only this transaction sees it. *)
Clear(c) ==
  /\ at[c] = "clear" /\ cleared = None
  /\ IF row.by = seen[c].by /\ IsClearable(row)
     THEN Goes(c, "running") /\ cleared' = c /\ UNCHANGED <<lock, tx, won, seen, fate>>
     ELSE StartsOver(c)
  /\ UNCHANGED <<row, stranger, told, effects, forgotten>>

-----------------------------------------------------------------------------
(* LateClaim: the handler has begun, and nothing was sent. BEGIN and the try-lock, the look, and the
   handler's first statement are one flush. An error skips the rest of it and ends the transaction. *)

LockOf(c) == IF lock = None THEN c ELSE lock

(* refuse_claim(): the handler is unwinding, and its transaction is over. *)
Raises(c) == Goes(c, "unwinding") /\ Ends(c)

FirstLock(c) ==
  /\ at[c] = IF Rule("a late look comes after the lock") THEN "early" ELSE "first"
  /\ IF lock = None \/ ~Rule("a first statement runs only behind its lock")
     THEN /\ Goes(c, IF Rule("a late look comes after the lock") THEN "first" ELSE "running")
          /\ tx' = [tx EXCEPT ![c] = "open"] /\ lock' = LockOf(c)
          /\ UNCHANGED <<cleared, won, seen>>
     ELSE Raises(c)
  /\ UNCHANGED <<row, stranger, told, effects, fate, forgotten>>

FirstLook(c) ==
  /\ at[c] = IF Rule("a late look comes after the lock") THEN "first" ELSE "early"
  /\ IF row = NoRow
     THEN /\ Goes(c, IF Rule("a late look comes after the lock") THEN "running" ELSE "first")
          /\ tx' = [tx EXCEPT ![c] = "open"]
          /\ UNCHANGED <<lock, cleared, won, seen>>
     ELSE Raises(c)
  /\ UNCHANGED <<row, stranger, told, effects, fate, forgotten>>

(* Another error: of the claim's statements or of the handler's own. Nothing remains, and the run is claimed
   when its handler has ended: by the ordinary claim. *)
FirstFails(c) ==
  /\ at[c] \in {"early", "first"}
  /\ Goes(c, "claim") /\ Ends(c) /\ fate' = [fate EXCEPT ![c] = "failed"]
  /\ UNCHANGED <<row, stranger, told, effects, forgotten>>

(* The connection is cut: the flush is not answered, and the run is dropped. The database may yet get it. *)
FirstCut(c) ==
  /\ at[c] \in {"early", "first"} /\ Drops(c)
  /\ tx' = [tx EXCEPT ![c] = IF at[c] = "early" THEN "sent" ELSE "open"]
  /\ UNCHANGED <<row, stranger, lock, cleared, won, seen, told, effects, forgotten>>

ArrivesLate(c) ==
  /\ tx[c] = "sent" /\ lock = None /\ row = NoRow
  /\ tx' = [tx EXCEPT ![c] = "open"] /\ lock' = c
  /\ UNCHANGED <<row, stranger, cleared, at, won, seen, told, effects, fate, forgotten>>

(* The handler has ended without any statement. *)
IsSilent(c) ==
  /\ at[c] = "early"
  /\ IF Rule("a handler without a statement is claimed at its end")
     THEN Goes(c, "claim") /\ UNCHANGED told
     ELSE Goes(c, "over") /\ told' = told \cup {<<c, c>>}
  /\ UNCHANGED <<row, stranger, lock, cleared, tx, won, seen, effects, fate, forgotten>>

(* A handler that was stopped answers all the same. *)
Unwinds(c) ==
  /\ at[c] = "unwinding" /\ Drops(c)
  /\ told' = IF Rule("what a dropped run answers is dropped") THEN told ELSE told \cup {<<c, c>>}
  /\ UNCHANGED <<row, stranger, lock, cleared, tx, won, seen, effects, forgotten>>

-----------------------------------------------------------------------------
(* The handler ends. *)

(* record.sql: the finished row, unless the index knows a committed one that is not cleared. *)
IsFree(c) == row = NoRow \/ cleared = c \/ ~Rule("the key is unique")

Recorded(c) ==
  /\ row' = Done(c)
  /\ effects' = effects \cup {c}
  /\ Ends(c)

Commit(c) ==
  /\ at[c] = "running" /\ fate[c] = "counts"
  /\ \/ IsFree(c) /\ Recorded(c) /\ told' = told \cup {<<c, c>>} /\ Goes(c, "over")
     \/ ~IsFree(c) /\ Ends(c) /\ Goes(c, "over") /\ UNCHANGED <<row, told>> \* lost: nothing remains
        /\ effects' = IF Rule("effect and record are one commit") THEN effects ELSE effects \cup {c}
     \/ \* not answered: the database decides, and nobody is told
        /\ tx' = [tx EXCEPT ![c] = "committing"] /\ Goes(c, "over")
        /\ told' = IF Rule("a commit that was not answered is not told") THEN told
                   ELSE told \cup {<<c, c>>}
        /\ UNCHANGED <<row, effects, lock, cleared, won, seen>>
  /\ UNCHANGED <<stranger, fate, forgotten>>

(* What the handler wrote is gone with its first statement, so its answer is not recorded either. *)
AnswersInVain(c) ==
  /\ at[c] = "running" /\ fate[c] = "failed"
  /\ Goes(c, "over") /\ Ends(c)
  /\ IF Rule("a run whose first statement failed records no answer")
     THEN UNCHANGED <<row, told>>
     ELSE IsFree(c) /\ row' = Done(c) /\ told' = told \cup {<<c, c>>}
  /\ UNCHANGED <<stranger, effects, fate, forgotten>>

(* The effect is rolled back: the key is free at once, or the error is recorded then. *)
Fails(c) ==
  /\ at[c] = "running"
  /\ \/ "release" \in Endings /\ Goes(c, "over") /\ Forgets(c)
     \/ "terminal" \in Endings /\ Goes(c, "record failure") /\ UNCHANGED seen
  /\ Frees(c)
  /\ UNCHANGED <<row, stranger, told, effects, fate, forgotten>>

(* record_failure.sql, in autocommit: clears away again what was cleared, and inserts if nothing stands there. *)
RecordFailure(c) ==
  /\ at[c] = "record failure" /\ cleared = None
  /\ row' = IF row = NoRow \/ (row.by = seen[c].by /\ IsClearable(row)) THEN Failure(c) ELSE row
  /\ Goes(c, "over") /\ Forgets(c)
  /\ UNCHANGED <<stranger, lock, cleared, tx, won, told, effects, fate, forgotten>>

(* Where a call has no transaction. *)
Idle == {"claim", "over", "early", "unwinding"}

(* The server dies, or its connection is cut: the database notices in its own time. *)
Dies(c) ==
  /\ at[c] \notin Idle
  /\ Goes(c, "over")
  /\ UNCHANGED <<row, stranger, lock, cleared, tx, won, seen, told, effects, fate, forgotten>>

-----------------------------------------------------------------------------
(* What goes on beside the calls. *)

(* The database ends a transaction that nobody else will end. *)
EndsTransaction(c) ==
  /\ at[c] = "over" /\ tx[c] # "none"
  /\ \/ tx[c] = "committing" /\ IsFree(c) /\ Recorded(c)
     \/ /\ Ends(c) /\ UNCHANGED row
        /\ effects' = IF tx[c] = "open" /\ fate[c] = "dropped" /\ ~Rule("a dropped run is rolled back")
                      THEN effects \cup {c} ELSE effects
  /\ UNCHANGED <<stranger, at, told, fate, forgotten>>

(* claim/claim.sql of the reserved call: it inserts where it sees no committed row. *)
StrangerReserves ==
  /\ stranger = "away" /\ row = NoRow
  /\ row' = Reservation /\ stranger' = "running"
  /\ UNCHANGED <<lock, cleared, at, tx, won, seen, told, effects, fate, forgotten>>

(* complete.sql, with the effect: waits for a transaction that deletes the row. *)
StrangerCompletes ==
  /\ stranger = "running" /\ cleared = None
  /\ stranger' = "over"
  /\ IF row.by = Reserved /\ row.state = "open"
     THEN /\ row' = Done(Reserved) /\ effects' = effects \cup {Reserved}
          /\ told' = told \cup {<<Reserved, Reserved>>}
     ELSE UNCHANGED <<row, effects, told>>
  /\ UNCHANGED <<lock, cleared, at, tx, won, seen, fate, forgotten>>

StrangerDies ==
  /\ stranger = "running" /\ stranger' = "over"
  /\ UNCHANGED <<row, lock, cleared, at, tx, won, seen, told, effects, fate, forgotten>>

LeaseEnds ==
  /\ row.state = "open" /\ row.alive
  /\ row' = [row EXCEPT !.alive = FALSE]
  /\ UNCHANGED <<stranger, lock, cleared, at, tx, won, seen, told, effects, fate, forgotten>>

(* The retention ends. *)
Expires ==
  /\ Expiry /\ row # NoRow /\ ~row.expired /\ (IsEnded(row) \/ ~row.alive)
  /\ row' = [row EXCEPT !.expired = TRUE]
  /\ forgotten' = IF IsEnded(row) THEN forgotten \cup {row.by} ELSE forgotten
  /\ UNCHANGED <<stranger, lock, cleared, at, tx, won, seen, told, effects, fate>>

(* sweep_expired: skips a row that is locked. *)
Sweep ==
  /\ IsExpired(row) /\ cleared = None
  /\ row' = NoRow
  /\ UNCHANGED <<stranger, lock, cleared, at, tx, won, seen, told, effects, fate, forgotten>>

-----------------------------------------------------------------------------

Init ==
  /\ row = NoRow /\ stranger = "away" /\ lock = None /\ cleared = None
  /\ at = [c \in All |-> IF c \in Late THEN "early" ELSE "claim"]
  /\ tx = [c \in All |-> "none"]
  /\ won = [c \in All |-> FALSE]
  /\ seen = [c \in All |-> NoRow]
  /\ fate = [c \in All |-> "counts"]
  /\ told = {} /\ effects = {} /\ forgotten = {}

Step(c) ==
  \/ TryLock(c) \/ Look(c) \/ Decide(c) \/ Clear(c)
  \/ FirstLock(c) \/ FirstLook(c) \/ FirstFails(c) \/ FirstCut(c) \/ ArrivesLate(c)
  \/ IsSilent(c) \/ Unwinds(c)
  \/ Commit(c) \/ AnswersInVain(c) \/ Fails(c) \/ RecordFailure(c)
  \/ Dies(c) \/ EndsTransaction(c)

Beside == StrangerReserves \/ StrangerCompletes \/ StrangerDies \/ LeaseEnds \/ Expires \/ Sweep

Next == Beside \/ \E c \in All : Step(c)

(* A lease that nobody renews ends, and so does a transaction that nobody else ends. *)
Fairness == WF_vars(LeaseEnds) /\ \A c \in All : WF_vars(EndsTransaction(c))

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ Fairness

Symmetry == Permutations(Calls) \cup Permutations(Late)

-----------------------------------------------------------------------------
(* What must hold. *)

Anybody == All \cup {Reserved}

TypeOK ==
  /\ row \in [by : Anybody \cup {None}, state : {"none", "open", "done", "failure"},
              alive : BOOLEAN, expired : BOOLEAN]
  /\ stranger \in {"away", "running", "over"}
  /\ lock \in All \cup {None} /\ cleared \in All \cup {None}
  /\ at \in [All -> {"early", "first", "unwinding", "claim", "second", "decide", "clear", "running",
                     "record failure", "over"}]
  /\ tx \in [All -> {"none", "sent", "open", "committing"}]
  /\ fate \in [All -> {"counts", "failed", "dropped"}]
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

(* What a dropped run wrote or answered counts nowhere. *)
DroppedLeavesNothing ==
  \A c \in Late : fate[c] = "dropped" => c \notin effects /\ <<c, c>> \notin told /\ row.by # c

(* No handler runs in vain, beside a record that a call like it has made. *)
NoRunBesideRecord ==
  \A c \in All : at[c] = "running" /\ row.state = "done" => row.expired \/ row.by = Reserved

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
