// Measures each list of the product with each filter, in processor time of the server and of PostgreSQL:
// bun bench/lists.ts [postgres] [--rows=100000] [--rounds=5] [--requests=4].

import type { DatabaseHandle } from '../server/storage/database/open-database.ts'
import { startPostgres } from '../tests/support/postgres/postgres-server.ts'
import {
  addRows,
  callApi,
  finish,
  median,
  note,
  readOptions,
  readTreeProcessorMs,
  seed,
  seedLinks,
  startTowpath,
  toTable,
  type Workspace,
} from './harness.ts'

const { rows, rounds, requests, words } = readOptions({ rows: 100_000, rounds: 5, requests: 4 })
const AT = Date.now()
const HOUR_MS = 3_600_000
const FORM_KEY = 'benchbench'
const DOMAIN = 'go1.bench.example'
/** The limits of a workspace. */
const [TAGS, DOMAINS] = [5000, 1000]
const STATUSES = ['new', 'read', 'archived', 'spam'] as const

async function addLinkLists(db: DatabaseHandle, { workspaceId }: Workspace) {
  const own = { workspace_id: workspaceId, created_at: AT }
  // Each link has the first tag.
  await addRows(db, 'tags', TAGS, (n) => ({ ...own, name: `Tag ${n}`, name_key: `tag ${n}`, color: 'gray' }))
  await addRows(db, 'link_tags', rows, (n) => ({ workspace_id: workspaceId, link_id: n, tag_id: 1 }))
  const verified = { token: 'bench', verified_at: AT - 72 * HOUR_MS, is_primary: 0, case_sensitive: 0 }
  const toDomain = (n: number) => ({ ...own, ...verified, domain: `go${n}.bench.example`, updated_at: AT })
  await addRows(db, 'domains', DOMAINS, toDomain)
  await addRows(db, 'misses', rows, (n) => ({
    workspace_id: workspaceId,
    domain: DOMAIN,
    slug: `gone${n}`,
    last_at: AT,
    hour: AT - (AT % HOUR_MS) - HOUR_MS * (n % 48),
    hits: 1 + (n % 7),
    visitors: 1,
    bots: 0,
  }))
}

async function addFormLists(db: DatabaseHandle, { workspaceId }: Workspace) {
  const own = { workspace_id: workspaceId, created_at: AT }
  await addRows(db, 'forms', 1, () => ({ ...own, form_key: FORM_KEY, name: 'Bench', updated_at: AT }))
  await addRows(db, 'submissions', rows, (n) => toSubmission(workspaceId, n))
  await addRows(db, 'channels', 1, () => ({ ...own, type: 'webhook', name: 'Bench', updated_at: AT }))
  await addRows(db, 'deliveries', rows, (n) => ({
    workspace_id: workspaceId,
    channel_id: 1,
    submission_id: n,
    event: 'submission.created',
    message_id: `msg_${n}`,
    status: n % 4 ? 'delivered' : 'failed',
    attempts: 1,
    created_at: AT + n,
    finished_at: AT + n,
  }))
}

function toSubmission(workspaceId: number, n: number) {
  const message = `Hello, I am number ${n}. `.repeat(10)
  const email = `sender${n}@mail${n % 100}.example`
  const fields = JSON.stringify(Object.entries({ email, message }))
  return {
    workspace_id: workspaceId,
    form_id: 1,
    fingerprint: `f${n}`,
    created_at: AT + n,
    fields,
    email,
    search_text: `${email}\n${message}`.toLowerCase(),
    status: STATUSES[n % 4],
    announced: 1,
    attribution: 'measured',
    link_id: 1 + (n % 50),
    country: n % 3 ? 'DE' : 'US',
    utm_source: n % 2 ? 'news' : null,
    referrer: 'search.example',
    region: 'Berlin',
    city: 'Berlin',
    device: 'desktop',
    browser: 'Firefox',
    os: 'Linux',
  }
}

async function addImports(db: DatabaseHandle, { workspaceId: workspace_id }: Workspace) {
  await addRows(db, 'imports', 1, () => ({
    workspace_id,
    node: 'bench',
    source: 'csv',
    status: 'done',
    stage: 'links',
    dry_run: 0,
    on_conflict: 'skip',
    options: '{"clickRows":null}',
    file_bytes: 1,
    actor: '{}',
    created_at: AT,
  }))
  await addRows(db, 'import_rows', rows, (n) => ({
    workspace_id,
    import_id: 1,
    row: n,
    kind: 'link',
    message: n % 2 ? 'Slug in use' : null,
    outcome: n % 2 ? 'skipped' : 'created',
  }))
}

/** The filters of a list, as queries. */
const SUBMISSIONS = `status=new status=new,read start=2020-01-01 search=number search=nothing search=zürich
  email=sender7@mail7.example attribution=measured attribution=none linkId=7 country=de referrer=search.example
  utmSource=news device=desktop browser=Firefox os=Linux region=Berlin city=Berlin city=Paris
  status=new&search=number`
const FILTERS: Record<string, string> = {
  '/links': `archived=all archived=true sort=clicks sort=lastClickedAt sort=slug externalId=none
    domain=${DOMAIN} domain=127.0.0.1 tagId=1 tagId=2 tagId=1,2 tagId=1&sort=clicks
    search=bench search=nothing search=zürich search=http://127.0.0.1/bench7 tagId=1&search=bench
    tagId=1&search=nothing archived=all&search=bench&sort=clicks domain=127.0.0.1&search=bench
    tagId=1&search=bench&domain=127.0.0.1&sort=lastClickedAt`,
  '/links/trash': '',
  '/tags': 'search=tag search=nothing search=zürich',
  '/domains': '',
  '/forms': '',
  '/channels': '',
  '/imports': '',
  '/allowed-senders': '',
  '/submissions/erasures': '',
  '/analytics/missing': `domain=${DOMAIN}`,
  '/submissions': SUBMISSIONS,
  [`/forms/${FORM_KEY}/submissions`]: SUBMISSIONS,
  '/deliveries': `status=failed status=waiting channelId=1 formKey=${FORM_KEY} formKey=zzzzzzzzzz submissionId=7
    start=2020-01-01 status=failed&formKey=${FORM_KEY}`,
  '/imports/1/rows': 'outcome=created outcome=failed',
  '/analytics/leads': `groupBy=link groupBy=country groupBy=form groupBy=time tagId=1 linkId=7 country=DE
    model=linear tagId=1&groupBy=tag`,
  '/analytics/clicks': 'tagId=1 domain=127.0.0.1 slug=bench7',
}

const postgres = words.includes('postgres') ? await startPostgres() : undefined
const databaseUrl = postgres?.url
let trashKey = ''
const { key } = await seed({ links: rows, databaseUrl }, async (db, workspace, addWorkspace) => {
  await addLinkLists(db, workspace)
  await addFormLists(db, workspace)
  await addImports(db, workspace)
  const trash = await addWorkspace()
  trashKey = trash.key
  await seedLinks(db, trash.workspaceId, rows, 'trash.bench.example')
  const inTrash = { deleted_at: AT }
  await db.write((connection) =>
    connection.updateTable('links').set(inTrash).where('workspace_id', '=', trash.workspaceId).execute(),
  )
})
const server = await startTowpath(databaseUrl ? { DATABASE_URL: databaseUrl } : {}, { first: true })
/** As autovacuum does by itself after a while. */
if (postgres) await new Bun.SQL(postgres.url).unsafe('vacuum analyze')

const readProcessorMs = () =>
  readTreeProcessorMs(server.pid) + (postgres ? readTreeProcessorMs(postgres.pid()) : 0)

/** A workspace has 300 requests a minute. */
const asked: number[] = []
async function waitForRateLimit(): Promise<void> {
  const busyUntil = (asked.at(-280) ?? 0) + 60_000
  if (busyUntil > Date.now()) await Bun.sleep(busyUntil - Date.now())
  for (let n = 0; n < requests; n++) asked.push(Date.now())
}

/** Several requests, because the clock has steps of 10 ms. */
async function measure(path: string, by: string): Promise<number> {
  await waitForRateLimit()
  const before = readProcessorMs()
  for (let n = 0; n < requests; n++) await callApi(server, by, path)
  return (readProcessorMs() - before) / requests
}

/** @returns a row for each filter, compared with the whole list */
async function measureList(list: string): Promise<string[][]> {
  const filters = (FILTERS[list] ?? '').split(/\s+/).filter(Boolean)
  const paths = [list, ...filters.map((filter) => `${list}?${filter}`)]
  const by = list === '/links/trash' ? trashKey : key
  for (const path of paths) await measure(path, by)
  const times = paths.map((): number[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [n, path] of paths.entries()) times[n]?.push(await measure(path, by))
  note(list)
  const medians = times.map(median)
  return paths.map((path, n) => {
    const time = medians[n] as number
    return [`\`${path}\``, time.toFixed(1), (time / (medians[0] as number)).toFixed(1)]
  })
}

const table: string[][] = []
for (const list of Object.keys(FILTERS)) table.push(...(await measureList(list)))
await postgres?.end()
finish(toTable(['list', 'processor ms', 'times the plain list'], table))
