SELECT "${schema}".refuse_commit('IK002')
