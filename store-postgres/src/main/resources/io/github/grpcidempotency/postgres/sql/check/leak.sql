-- The user that a transaction before this one has set, if it is still set.
SELECT current_setting('app.current_user_id', true) = :user AS kept
