SELECT ${caller}, ${lock_timeout}, ${generic_plans};${wake}${reference}

${update}
