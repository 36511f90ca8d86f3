-- The user that an earlier transaction has set, if it is still set.
SELECT COALESCE(current_setting('app.current_user_id', true), '') AS user_id
