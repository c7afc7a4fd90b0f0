// node-postgres: rows, notices, an error's fields.
const { Client } = require('pg');

(async () => {
  const client = new Client({ connectionString: process.argv[2] });
  client.on('notice', (notice) => console.log(notice.message));
  await client.connect();
  const sql = 'SELECT sex, COUNT(*) AS n FROM people WHERE age >= $1 GROUP BY sex';
  const { rows } = await client.query(sql, [30]);
  rows.forEach((row) => console.log(`${row.sex} is ${row.n}`));
  await client.query('SELECT person FROM people').catch((e) => console.log(`refused ${e.code} at ${e.position}`));
  await client.end();
})();
