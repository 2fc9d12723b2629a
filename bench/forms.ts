// Measures form submissions: bun bench/forms.ts. It compares acknowledged submissions per second with a loop that only
// inserts such rows in groups, and measures a redirect's p99 while forms are under load. The form has rules, spam rules with a classifier that
// has learned, and a reply. Alternating rounds, medians.

import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../server/features/accounts/access/keys.ts'
import { newFormKey } from '../server/features/forms/settings/form-key.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { type LoadResult, load, requireWrk, USER_AGENT } from './load.ts'
import { median } from './median.ts'
import { type Contender, pinToCore, seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'
import { createSpamCorpus } from './spam-corpus.ts'

const ROUNDS = 5
const SECONDS = 2
const SENDERS = 64
const LINKS = 1000

/** What the form does with a submission beside storing it. Nothing listens at the mail server. */
const ANSWERS = {
  rules: JSON.stringify({
    name: { minLength: 2, maxLength: 100, pattern: '[^<>]*' },
    email: { type: 'email' },
    message: { maxLength: 5000 },
  }),
  spam: JSON.stringify({
    words: Array.from({ length: 100 }, (_, n) => `forbidden${n}`),
    emails: ['*@spam.example'],
    domains: ['spam.example'],
    maxLinks: 3,
    learn: true,
  }),
  reply: JSON.stringify({
    subject: 'Thanks, {{name}}',
    text: 'Hello {{name}}, we have got: {{message}}',
    confirm: false,
  }),
}
const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'go@towpath.example' }

interface Target {
  dir: string
  workspaceId: number
  formId: number
  formKey: string
  /** Of the API. */
  key: string
}

async function createTarget(dir: string): Promise<Target> {
  const db = await openDatabase({ dataDir: dir })
  const workspaceId = await seedLinks(db, LINKS)
  const formKey = newFormKey()
  const at = Date.now()
  const form = {
    workspace_id: workspaceId,
    form_key: formKey,
    name: 'Contact',
    success_message: null,
    redirect_url: null,
    required_fields: '["name","email"]',
    ...ANSWERS,
    created_at: at,
    updated_at: at,
  }
  const { id } = await db.write((connection) =>
    connection.insertInto('forms').values(form).returning('id').executeTakeFirstOrThrow(),
  )
  const { key } = await createKey({ db, now: Date.now }, workspaceId, 'bench')
  await db.close()
  return { dir, workspaceId, formId: id, formKey, key }
}

const LESSONS = 40

/** Teaches the classifier as people do: the submissions come by the form, and get their statuses by the API. */
async function teach({ port }: Contender, { formKey }: Target, key: string) {
  const corpus = createSpamCorpus(1, LESSONS)
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const call = async (path: string, init: RequestInit) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init)
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  for (const status of ['spam', 'archived'] as const) {
    const lessons = corpus.filter(({ isSpam }) => isSpam === (status === 'spam'))
    for (const [n, { fields }] of lessons.entries()) {
      const from = { 'X-Forwarded-For': `192.0.${status === 'spam' ? 2 : 3}.${n + 1}` }
      const body = JSON.stringify({
        name: 'Ada',
        ...Object.fromEntries(fields),
        email: `lesson-${status}-${n}@example.com`,
      })
      await call(`/f/${formKey}`, { method: 'POST', headers: { ...headers, ...from }, body })
    }
    const { data } = (await call('/v1/submissions?limit=100', { headers })) as {
      data: { id: number; email: string }[]
    }
    const ids = data.filter(({ email }) => email.startsWith(`lesson-${status}`)).map(({ id }) => id)
    await call('/v1/submissions/bulk', { method: 'PATCH', headers, body: JSON.stringify({ ids, status }) })
  }
}

let senders = 0

/**
 * A contact form that a page's script sends, each time from another address, because a form takes ten a minute from one
 * address.
 */
function createSubmissionScript(formKey: string): string {
  // No two runs of the script use the same address.
  const first = senders
  senders += 400_000
  return `
wrk.headers["User-Agent"] = "${USER_AGENT}"
wrk.headers["Referer"] = "https://shop.example/contact?utm_source=newsletter&utm_medium=email&utm_campaign=spring"
wrk.headers["Origin"] = "https://shop.example"
wrk.headers["Sec-Fetch-Mode"] = "cors"
wrk.headers["Accept"] = "*/*"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
local n = ${first}
request = function()
  n = n + 1
  wrk.headers["X-Forwarded-For"] = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  return wrk.format("POST", "/f/${formKey}", nil, "name=Ada+Lovelace+" .. n .. "&email=ada." .. n ..
    "%40example.com&message=I+would+like+to+know+more+about+your+bicycles+and+when+they+are+in+the+shop+again&_next=%2Fthanks")
end
`
}

const sendForms = (towpath: Contender, { formKey }: Target, seconds = SECONDS) =>
  load(towpath.port, { connections: SENDERS, seconds, script: createSubmissionScript(formKey) })

async function insertOnly({ dir, workspaceId, formId }: Target): Promise<LoadResult> {
  const script = join(import.meta.dir, 'forms-inserts.ts')
  const command = [process.execPath, script, dir, ...[workspaceId, formId, SECONDS].map(String)]
  const output = await new Response(Bun.spawn(pinToCore(0, command), { stderr: 'inherit' }).stdout).text()
  const [, perSecond, p50Ms, p99Ms] = /RESULT (\S+) (\S+) (\S+)/.exec(output)?.map(Number) ?? []
  if (!perSecond || p50Ms === undefined || p99Ms === undefined) throw new Error(`the loop said:\n${output}`)
  return { perSecond, p50Ms, p99Ms, failed: 0 }
}

/** Measures in pairs. Every other pair starts with the second side. */
async function paired<A, B>(what: string, one: () => Promise<A>, other: () => Promise<B>) {
  const pairs: [A, B][] = []
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 2 === 0) pairs.push([await one(), await other()])
    else {
      const second = await other()
      pairs.push([await one(), second])
    }
    process.stderr.write(`${what}: round ${round + 1} of ${ROUNDS}\n`)
  }
  return pairs
}

const shown = (value: number) => Math.round(value).toLocaleString('en-US')

function submissionsTable(pairs: [LoadResult, LoadResult][]): string {
  const row = (name: string, side: 0 | 1) => {
    const of = (figure: 'perSecond' | 'p50Ms' | 'p99Ms') => median(pairs.map((pair) => pair[side][figure]))
    const ratio = median(pairs.map((pair) => pair[0].perSecond / pair[side].perSecond))
    const p99 = median(pairs.map((pair) => pair[0].p99Ms / pair[side].p99Ms))
    return `| ${[name, shown(of('perSecond')), of('p50Ms').toFixed(2), of('p99Ms').toFixed(2), ratio.toFixed(2), p99.toFixed(2)].join(' | ')} |`
  }
  return [
    `| ${SENDERS} connections | acknowledged/s | p50 ms | p99 ms | towpath / it | towpath p99 / its |`,
    '|---|---|---|---|---|---|',
    row('towpath', 0),
    row(`inserts only, ${SENDERS} to a commit`, 1),
  ].join('\n')
}

function redirectsTable(pairs: [LoadResult, { redirects: LoadResult; forms: LoadResult }][]): string {
  const row = (name: string, results: LoadResult[], forms: string) =>
    `| ${[name, shown(median(results.map(({ perSecond }) => perSecond))), median(results.map(({ p50Ms }) => p50Ms)).toFixed(2), median(results.map(({ p99Ms }) => p99Ms)).toFixed(2), forms].join(' | ')} |`
  const alone = pairs.map(([result]) => result)
  const beside = pairs.map(([, { redirects }]) => redirects)
  const forms = shown(median(pairs.map(([, both]) => both.forms.perSecond)))
  const ratios = pairs.map(([one, both]) => both.redirects.p99Ms / one.p99Ms)
  return [
    '| redirects | redirects/s | p50 ms | p99 ms | submissions/s |',
    '|---|---|---|---|---|',
    row('alone', alone, '0'),
    row('while forms are under load', beside, forms),
    '',
    `A redirect's p99 while forms are under load / alone: ${median(ratios).toFixed(2)}`,
  ].join('\n')
}

requireWrk()
const loopDir = mkdtempSync(join(tmpdir(), 'towpath-inserts-'))
const target = await createTarget(TOWPATH_DIR)
const towpath = await startTowpath({ TRUST_PROXY: '127.0.0.1', ...MAIL })
try {
  const loopTarget = await createTarget(loopDir)
  let acknowledged = 0
  let refused = 0
  const count = (result: LoadResult, seconds = SECONDS) => {
    acknowledged += result.perSecond * seconds - result.failed
    refused += result.failed
    return result
  }
  await teach(towpath, target, target.key)
  acknowledged += 2 * LESSONS
  count(await sendForms(towpath, target, 1), 1)
  const rates = await paired(
    'submissions',
    async () => count(await sendForms(towpath, target)),
    () => insertOnly(loopTarget),
  )
  const redirected = await paired(
    'redirects',
    () => load(towpath.port, { seconds: SECONDS }),
    async () => {
      const both = [load(towpath.port, { seconds: SECONDS }), sendForms(towpath, target)] as const
      const [redirects, forms] = await Promise.all(both)
      count(forms)
      return { redirects, forms }
    },
  )
  const failed = redirected.reduce((sum, [one, both]) => sum + one.failed + both.redirects.failed, 0)
  const database = new Database(join(TOWPATH_DIR, 'towpath.db'), { readonly: true })
  const { stored } = database.query('select count(*) as stored from submissions').get() as { stored: number }
  database.close()
  process.stdout.write(`${submissionsTable(rates)}\n\n${redirectsTable(redirected)}\n\n`)
  process.stdout.write(
    `Acknowledged: ${shown(acknowledged)}; stored: ${shown(stored)}; refused: ${refused}; failed redirects: ${failed}\n`,
  )
} finally {
  await towpath.end()
  rmSync(loopDir, { recursive: true, force: true })
}
process.exit(0)
