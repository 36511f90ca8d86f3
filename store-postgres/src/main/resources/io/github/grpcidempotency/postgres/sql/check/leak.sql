-- Whether the user that an earlier transaction has set is still set.
SELECT current_setting('app.current_user_id', true) = :user AS kept
