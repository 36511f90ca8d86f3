SELECT beginning FROM "${schema}".answer_beginnings(:procedure) AS beginning
