SELECT "${schema}".refuse_commit('${lost}')
