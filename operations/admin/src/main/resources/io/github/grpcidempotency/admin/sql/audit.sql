SELECT a.*
  FROM "${schema}".operator_audit(
         CAST(:operation AS uuid),
         CAST(:key AS text),
         CAST(:tenant AS text),
         CAST(:project AS text),
         CAST(:user AS uuid),
         CAST(:actor AS text),
         CAST(:act AS text),
         CAST(:since AS timestamptz),
         CAST(:until AS timestamptz),
         CAST(:before AS bigint),
         :limit) AS a
