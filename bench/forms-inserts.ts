// The baseline of bench/forms.ts: bun bench/forms-inserts.ts <dir> <workspace> <form> <seconds>. The process only inserts
// rows like those of submissions, 64 in a transaction, and syncs each transaction.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openSqliteWriter } from '../server/storage/database/sqlite.ts'

const GROUP = 64
const [dir = '', workspace, form, seconds] = process.argv.slice(2)
const database = await openSqliteWriter(join(dir, 'towpath.db'), 0)

// The columns that are the same for all requests of bench/forms.ts.
const fixed = {
  workspace_id: Number(workspace),
  form_id: Number(form),
  status: 'new',
  notes: null,
  duplicate_of: null,
  link_id: null,
  click_id: null,
  event_id: null,
  session_linked: 0,
  attribution: 'none',
  attribution_due: 1,
  referrer: 'shop.example',
  page_url: 'https://shop.example/contact',
  landing_url: null,
  utm_source: 'newsletter',
  utm_medium: 'email',
  utm_campaign: 'spring',
  utm_term: null,
  utm_content: null,
  device: 'mobile',
  browser: 'Safari',
  os: 'iOS',
  country: null,
  region: null,
  city: null,
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
const start = performance.now()
for (let now = start; now < start + Number(seconds) * 1000; ) {
  group()
  const after = performance.now()
  times.push(after - now)
  now = after
}
const perSecond = ((times.length * GROUP) / (performance.now() - start)) * 1000
times.sort((a, b) => a - b)
const at = (share: number) => times[Math.floor(times.length * share)]
process.stdout.write(`RESULT ${perSecond} ${at(0.5)} ${at(0.99)} ${number}\n`)
database.close()
