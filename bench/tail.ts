// bun bench/tail.ts <checkout of the version before> [rounds]: how long redirects take beside forms, with few rows and with
// 500,000 submissions, in both versions. 100 submissions a second with a delivery each, 500 redirects a second at a steady
// pace. By turns, each time on a fresh copy of the same rows. It prints a table for docs/benchmarks.md.

import { Database } from 'bun:sqlite'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createKey } from '../server/features/accounts/access/keys.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { median } from './median.ts'
import { loadAtPace, type PacedResult, SLOW_MS } from './paced-load.ts'
import { seedLinks, startTowpath } from './servers.ts'

const BEFORE = resolve(process.argv[2] ?? '')
const ROUNDS = Number(process.argv[3] ?? 3)
const SECONDS = 12
/** The first seconds are those of a server that has just started. */
const WARM_UP_MS = 4_000
const SUBMISSIONS_PER_SECOND = 100
const LINKS = 1_000
const LARGE = 500_000
const AT_ONCE = 50_000

if (!process.argv[2]) throw new Error('Name the checkout of the version before: bun bench/tail.ts <checkout>')

const home = mkdtempSync(join(tmpdir(), 'towpath-tail-'))
process.on('exit', () => rmSync(home, { recursive: true, force: true }))

interface Seed {
  dir: string
  key: string
}

async function seed(name: string, submissions: number): Promise<Seed> {
  const dir = join(home, name)
  const db = await openDatabase({ dataDir: dir })
  const workspaceId = await seedLinks(db, LINKS)
  const { key } = await createKey({ db, now: Date.now }, workspaceId, 'bench')
  await db.close()
  if (submissions > 0) fill(join(dir, 'towpath.db'), workspaceId, submissions)
  return { dir, key }
}

/** Submissions of the last days, each with its delivery and the attempt that delivered it. */
function fill(path: string, workspaceId: number, submissions: number) {
  const database = new Database(path)
  const at = `${Date.now()} - (${submissions} - n) * 1000`
  const numbered = (from: number, columns: string, values: string) =>
    database.run(`insert into ${columns}
      with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${from + AT_ONCE - 1})
      select ${values} from numbers`)
  for (const pragma of ['synchronous=OFF', 'foreign_keys=OFF', 'cache_size=-400000'])
    database.run(`PRAGMA ${pragma}`)
  database.run(`insert into forms (id, workspace_id, form_key, name, created_at, updated_at)
    values (1, ${workspaceId}, 'benchforms', 'Bench', 0, 0)`)
  database.run(`insert into channels (id, workspace_id, type, name, created_at, updated_at)
    values (1, ${workspaceId}, 'webhook', 'Bench', 0, 0)`)
  for (let from = 1; from <= submissions; from += AT_ONCE) {
    database.run('BEGIN')
    numbered(
      from,
      'submissions (id, workspace_id, form_id, fields, search_text, email, fingerprint, visitor, created_at)',
      `n, ${workspaceId}, 1, '[["message","' || hex(randomblob(150)) || '"]]', hex(randomblob(150)),
        'person' || n || '@example.com', lower(hex(randomblob(32))), random(), ${at}`,
    )
    numbered(
      from,
      'deliveries (id, workspace_id, channel_id, submission_id, event, message_id, status, attempts, created_at, finished_at)',
      `n, ${workspaceId}, 1, n, 'submission.created', 'msg_' || hex(randomblob(16)), 'delivered', 1, ${at}, ${at}`,
    )
    numbered(
      from,
      'delivery_attempts (delivery_id, workspace_id, attempt, outcome, http_status, request, took_ms, at)',
      `n, ${workspaceId}, 1, 'delivered', 200, hex(randomblob(300)), 5, ${at}`,
    )
    database.run('COMMIT')
  }
  database.close()
}

/** Sends submissions at a steady pace until it is stopped. */
function startSubmissions(port: number, formKey: string) {
  let sent = 0
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * SUBMISSIONS_PER_SECOND
    for (; sent < due; sent++) {
      const address = `10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}`
      const body = JSON.stringify({ email: `ada${sent}@example.com`, message: 'So many words. '.repeat(20) })
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
      void fetch(`http://127.0.0.1:${port}/f/${formKey}`, { method: 'POST', headers, body }).then(
        (answer) => answer.arrayBuffer(),
        () => undefined,
      )
    }
  }, 5)
  return { stop: () => clearInterval(timer) }
}

async function measure(checkout: string | undefined, { dir, key }: Seed): Promise<PacedResult> {
  const dataDir = join(home, 'run')
  cpSync(dir, dataDir, { recursive: true })
  // What the copy has left to write is not the server's.
  Bun.spawnSync(['sync'])
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const environment = { DATA_DIR: dataDir, TRUST_PROXY: '127.0.0.1', WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' }
  const server = await startTowpath(environment, { checkout, first: true })
  try {
    const create = async (path: string, body: unknown) => {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await fetch(`http://127.0.0.1:${server.port}/v1${path}`, init)
      if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
      return ((await answer.json()) as { data: { id: number; formKey: string } }).data
    }
    const url = `http://127.0.0.1:${receiver.port}/`
    const channel = await create('/channels', { type: 'webhook', name: 'Bench', url })
    const form = await create('/forms', { name: 'Contact', channelIds: [channel.id] })
    const submissions = startSubmissions(server.port, form.formKey)
    await Bun.sleep(WARM_UP_MS)
    const result = await loadAtPace(server.port, SECONDS)
    submissions.stop()
    return result
  } finally {
    await server.end()
    await receiver.stop(true)
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const seeds = { few: await seed('few', 0), many: await seed('many', LARGE) }
const contenders = [
  { name: 'before, few rows', checkout: BEFORE, seed: seeds.few },
  { name: 'before, 500,000 submissions', checkout: BEFORE, seed: seeds.many },
  { name: 'now, few rows', checkout: undefined, seed: seeds.few },
  { name: 'now, 500,000 submissions', checkout: undefined, seed: seeds.many },
]
const results = new Map<string, PacedResult[]>(contenders.map(({ name }) => [name, []]))
for (let round = 1; round <= ROUNDS; round++) {
  for (const contender of contenders) {
    results.get(contender.name)?.push(await measure(contender.checkout, contender.seed))
    process.stderr.write(`round ${round} of ${ROUNDS}: ${contender.name}\n`)
  }
}

function toRow(name: string): string {
  const rounds = results.get(name) ?? []
  const of = (figure: (result: PacedResult) => number) => median(rounds.map(figure)).toFixed(1)
  const asked = rounds.reduce((sum, { perSecond }) => sum + perSecond * SECONDS, 0)
  const slow = rounds.reduce((sum, result) => sum + result.slow, 0)
  const cells = [
    name,
    of(({ p50Ms }) => p50Ms),
    of(({ p99Ms }) => p99Ms),
    of(({ maxMs }) => maxMs),
    `${slow} of ${Math.round(asked)}`,
  ]
  return `| ${cells.join(' | ')} |`
}

process.stdout.write(
  [
    `| redirects beside forms | p50 ms | p99 ms | longest ms | over ${SLOW_MS} ms |`,
    '|---|---|---|---|---|',
    ...contenders.map(({ name }) => toRow(name)),
    '',
  ].join('\n'),
)
process.exit(0)
