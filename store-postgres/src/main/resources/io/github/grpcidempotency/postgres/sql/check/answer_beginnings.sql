SELECT ${statement_timeout};

SELECT beginning FROM "${schema}".answer_beginnings(:procedure) AS beginning
