${begin}

SELECT ${caller}
