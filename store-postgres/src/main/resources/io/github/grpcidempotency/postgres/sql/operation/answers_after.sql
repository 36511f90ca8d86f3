SELECT * FROM "${schema}".answers_after(:procedure, :key_column, :place)
