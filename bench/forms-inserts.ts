// The baseline of bench/forms.ts, a loop of inserts: bun bench/forms-inserts.ts <dir> <workspace> <seconds>.
// It inserts rows like those of submissions, 64 in a transaction, and syncs each transaction. It prints JSON.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openSqliteWriter } from '../server/storage/database/sqlite.ts'

const GROUP = 64
const [dir = '', workspace, seconds] = process.argv.slice(2)
const database = await openSqliteWriter(join(dir, 'towpath.db'), 0)

const [[form]] = database
  .query(`insert into forms (workspace_id, form_key, name, created_at, updated_at) values (?, 'loop', 'Contact', 1, 1)
    on conflict (form_key) do update set updated_at = 1 returning id`)
  .values(Number(workspace)) as [[number]]
// The columns that are the same for all requests of bench/forms.ts.
const fixed = {
  workspace_id: Number(workspace),
  form_id: form,
  status: 'new',
  session_linked: 0,
  attribution: 'none',
  attribution_due: 1,
  referrer: 'shop.example',
  page_url: 'https://shop.example/contact',
  utm_source: 'newsletter',
  utm_medium: 'email',
  utm_campaign: 'spring',
  device: 'mobile',
  browser: 'Safari',
  os: 'iOS',
}
const own = ['fields', 'search_text', 'email', 'fingerprint', 'visitor', 'created_at']
const names = [...Object.keys(fixed), ...own]
const insert = database.prepare(
  `insert into submissions (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
)
const values = Object.values(fixed)
// Random, as in the server. They are made before the measurement, which is about inserts only.
const halves = Array.from({ length: 4096 }, () => randomBytes(16).toString('hex'))
const half = () => halves[Math.floor(Math.random() * halves.length)] as string

let number = 0
function group(): void {
  database.run('BEGIN IMMEDIATE')
  for (let i = 0; i < GROUP; i++) {
    const n = number++
    const [name, email] = [`Ada Lovelace ${n}`, `ada.${n}@example.com`]
    const message = 'I would like to know more about your bicycles and when they are in the shop again'
    insert.run(
      ...values,
      `[["name","${name}"],["email","${email}"],["message","${message}"]]`,
      `${name}\n${email}\n${message}`,
      email,
      half() + half(),
      `1234567890${n}`,
      Date.now(),
    )
  }
  database.run('COMMIT')
}

for (const end = performance.now() + 300; performance.now() < end; ) group()
const times: number[] = []
const before = process.cpuUsage()
const start = performance.now()
for (let now = start; now < start + Number(seconds) * 1000; ) {
  group()
  const after = performance.now()
  times.push(after - now)
  now = after
}
const rows = times.length * GROUP
const perSecond = (rows / (performance.now() - start)) * 1000
const { user, system } = process.cpuUsage(before)
times.sort((a, b) => a - b)
const at = (share: number) => times[Math.floor(times.length * share)]
const result = { perSecond, p50Ms: at(0.5), p99Ms: at(0.99), failed: 0, processorUs: (user + system) / rows }
process.stdout.write(JSON.stringify(result))
database.close()
