SELECT set_config('app.current_user_id', :user, true);

SELECT COALESCE(current_setting('app.current_user_id', true), '') AS user_id
 WHERE :user <> ''
