// Measures form submissions: bun bench/forms.ts [plain|everything] [<another checkout>] [--rounds=5] [--seconds=2]
// [--workspaces=100] [--stored=0]. A plain form, and forms with rules, a trained classifier, a reply and two channels, beside a loop
// that only inserts such rows; then redirects beside full form load. With another checkout, its plain and full forms too.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import {
  atLeast,
  formatCount,
  medianOf,
  medianRatio,
  note,
  print,
  readOptions,
  runRounds,
  toTable,
} from './harness.ts'
import { type LoadResult, load, postScript } from './load.ts'
import { loadBeside, toBesideTable } from './paced-load.ts'
import { callApi, HOME, listVersions, pinToCore, seed, startTowpath, type Workspace } from './servers.ts'

const { words, ...options } = readOptions({ rounds: 5, seconds: 2, workspaces: 100, stored: 0 })
type Kind = 'plain' | 'everything'
const isKind = (word: string): word is Kind => word === 'plain' || word === 'everything'
const kinds: Kind[] = words.some(isKind) ? words.filter(isKind) : ['plain', 'everything']
const SENDERS = 64
const LESSONS = 40
const P99_MAX = 2
const OWNERS = ['owner@example.com']
const SHARE_OF_LOOP: Record<Kind, number> = { plain: 0.35, everything: 0.2 }

const PLAIN = { name: 'Contact', requiredFields: ['name', 'email'] }
const EVERYTHING = {
  ...PLAIN,
  rules: {
    name: { minLength: 2, maxLength: 100, pattern: '[^<>]*' },
    email: { type: 'email' },
    message: { maxLength: 5000 },
  },
  spam: {
    words: Array.from({ length: 100 }, (_, n) => `forbidden${n}`),
    emails: ['*@spam.example'],
    domains: ['spam.example'],
    maxLinks: 3,
    learn: true,
  },
}
/** A workspace sends 200 replies an hour, so many workspaces share the submissions. Nothing listens at the mail server. */
const REPLY = { subject: 'Thanks, {{name}}', text: 'Hello {{name}}: {{message}}', confirm: false }
const ENVIRONMENT = {
  TRUST_PROXY: '127.0.0.1',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'go@towpath.example',
}

let senders = 0
/** A page's script sends contact forms, each time to the next form and from another address. No two runs share an address. */
function createSubmissionScript(formKeys: string[]): string {
  const first = senders
  senders += 400_000
  const headers = {
    Referer: 'https://shop.example/contact?utm_source=newsletter&utm_medium=email&utm_campaign=spring',
    Origin: 'https://shop.example',
    'Sec-Fetch-Mode': 'cors',
    Accept: '*/*',
    'Content-Type': 'application/x-www-form-urlencoded',
  }
  const body =
    '"name=Ada+Lovelace+" .. n .. "&email=ada." .. n .. "%40example.com&message=I+would+like+to+know+more+about+your+bicycles+and+when+they+are+in+the+shop+again&_next=%2Fthanks"'
  const keys = `local keys = { ${formKeys.map((key) => `"${key}"`).join(', ')} }\n`
  return keys + postScript('/f/', headers, body, first).replace('"/f/"', '"/f/" .. keys[n % #keys + 1]')
}

/** Teaches the classifier as people do: the submissions come by the form, and get their statuses by the API. */
async function teach(server: { port: number }, key: string, formKey: string) {
  for (let n = 0; n < 2 * LESSONS; n++) {
    const spam = `Earn ${n} dollars a day, cheap backlinks: https://win${n % 7}.example/offer`
    const message = n % 2 ? spam : `Do you have the road bike in size ${n}? May I come on Tuesday?`
    const body = new URLSearchParams({ name: 'Ada', email: `lesson${n}@example.com`, message })
    const headers = { 'X-Forwarded-For': `192.0.2.${n}`, Accept: 'application/json' }
    const url = `http://127.0.0.1:${server.port}/f/${formKey}`
    const answer = await fetch(url, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`a lesson was answered with ${answer.status}: ${await answer.text()}`)
  }
  const stored = await callApi<{ id: number }[]>(server, key, '/submissions?limit=100')
  for (const [status, part] of [
    ['spam', 1],
    ['archived', 0],
  ] as const) {
    // The newest come first.
    const ids = stored.toReversed().flatMap(({ id }, n) => (n % 2 === part ? [id] : []))
    await callApi(server, key, '/submissions/bulk', { ids, status }, 'PATCH')
  }
}

async function createFullForm(server: { port: number }, key: string, hook: string): Promise<string> {
  const channels = [
    await callApi<{ id: number }>(server, key, '/channels', { type: 'webhook', name: 'Hook', url: hook }),
    await callApi<{ id: number }>(server, key, '/channels', { type: 'email', name: 'Mail', to: OWNERS }),
  ]
  const { formKey } = await callApi<{ formKey: string }>(server, key, '/forms', EVERYTHING)
  await teach(server, key, formKey)
  // Lessons get no replies and no notifications.
  const settings = { reply: REPLY, channelIds: channels.map(({ id }) => id) }
  await callApi(server, key, `/forms/${formKey}`, settings, 'PATCH')
  return formKey
}

/** Stores submissions of the last days, each with its delivery. */
function fill(path: string, workspaceId: number) {
  const database = new Database(path)
  const at = `${Date.now()} - (${options.stored} - n) * 1000`
  for (const pragma of ['synchronous=OFF', 'foreign_keys=OFF']) database.run(`PRAGMA ${pragma}`)
  const insert = (columns: string, values: string) =>
    database.run(`insert into ${columns} with recursive numbers (n) as
      (select 1 union all select n + 1 from numbers where n < ${options.stored}) select ${values} from numbers`)
  insert(
    'submissions (id, workspace_id, form_id, fields, search_text, email, fingerprint, visitor, created_at)',
    `n, ${workspaceId}, 1, '[["message","' || hex(randomblob(150)) || '"]]', hex(randomblob(150)),
      'person' || n || '@example.com', lower(hex(randomblob(32))), random(), ${at}`,
  )
  insert(
    'deliveries (workspace_id, channel_id, submission_id, event, message_id, status, attempts, created_at, finished_at)',
    `${workspaceId}, 1, n, 'submission.created', 'msg_' || hex(randomblob(16)), 'delivered', 1, ${at}, ${at}`,
  )
  database.close()
}

const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })

async function startForms(version: ReturnType<typeof listVersions>[number]) {
  const workspaces: Workspace[] = []
  const first = await seed(version, async (_db, _seeded, addWorkspace) => {
    if (kinds.includes('everything'))
      for (let n = 0; n < options.workspaces; n++) workspaces.push(await addWorkspace())
  })
  if (options.stored > 0) fill(join(version.dataDir, 'towpath.db'), first.workspaceId)
  const server = await startTowpath(ENVIRONMENT, { ...version, first: true })
  const { formKey } = await callApi<{ formKey: string }>(server, first.key, '/forms', PLAIN)
  const full: string[] = []
  for (const { key } of workspaces)
    full.push(await createFullForm(server, key, `http://127.0.0.1:${receiver.port}/hook`))
  note(`${version.name}: ${full.length} full forms are ready`)
  const formKeys: Record<Kind, string[]> = { plain: [formKey], everything: full }
  let acknowledged = full.length * LESSONS * 2 + options.stored
  return {
    ...server,
    async send(kind: Kind, seconds = options.seconds): Promise<LoadResult> {
      const script = createSubmissionScript(formKeys[kind])
      const result = await load(server, { connections: SENDERS, seconds, script })
      acknowledged += result.perSecond * seconds - result.failed
      return result
    },
    countStored() {
      const database = new Database(join(version.dataDir, 'towpath.db'), { readonly: true })
      const [[stored]] = database.query('select count(*) from submissions').values() as [[number]]
      database.close()
      return `${version.name}: ${formatCount(acknowledged)} acknowledged, ${formatCount(stored)} stored`
    },
  }
}

async function startLoop(): Promise<() => Promise<LoadResult>> {
  const dataDir = join(HOME, 'loop')
  const { workspaceId } = await seed({ dataDir, links: 1 })
  const words = [join(import.meta.dir, 'forms-inserts.ts'), dataDir, workspaceId, options.seconds].map(String)
  return async () => {
    const child = Bun.spawn(pinToCore(0, [process.execPath, ...words]), { stderr: 'inherit' })
    return JSON.parse(await new Response(child.stdout).text())
  }
}

const versions = listVersions(words.filter((word) => !isKind(word)))
const servers: Awaited<ReturnType<typeof startForms>>[] = []
try {
  for (const version of versions) servers.push(await startForms(version))
  const loop = await startLoop()
  const contenders = servers.flatMap((server) => kinds.map((kind) => ({ kind, server })))
  for (const { kind, server } of contenders) await server.send(kind, 1)
  const runs = contenders.map(({ kind, server: { send } }) => send.bind(null, kind, options.seconds))
  const results = await runRounds(options.rounds, [...runs, loop])
  const inserts = results.at(-1) as LoadResult[]
  const rows = results.map((rounds, n) => {
    const { kind, server } = contenders[n] ?? {}
    const share = medianRatio(rounds, inserts, 'perSecond')
    const other = server === servers[0] && versions.length > 1 ? results[n + kinds.length] : undefined
    return [
      kind ? `${server?.name}, ${kind}` : `inserts only, ${SENDERS} to a commit`,
      formatCount(medianOf(rounds, 'perSecond')),
      medianOf(rounds, 'p50Ms').toFixed(2),
      medianOf(rounds, 'p99Ms').toFixed(2),
      medianOf(rounds, 'processorUs').toFixed(0),
      `${share.toFixed(2)}${kind ? `, ${atLeast(SHARE_OF_LOOP[kind], share)}` : ''}`,
      other ? medianRatio(rounds, other, 'processorUs').toFixed(2) : '',
    ]
  })
  const [towpath] = servers as [(typeof servers)[number]]
  const beside = await runRounds(
    options.rounds,
    kinds.map((kind) => () => {
      const { seconds } = options
      const start = () => ({ ended: towpath.send(kind, Math.ceil(seconds) + 2), stop() {} })
      return loadBeside(towpath.port, seconds, start)
    }),
    'redirects:',
  )
  const header = [`${SENDERS} connections`, 'acknowledged/s', 'p50 ms', 'p99 ms', 'µs of all threads']
  const failed = results.flat().reduce((sum, result) => sum + result.failed, 0)
  print(
    toTable([...header, 'of the loop', 'µs / the other checkout'], rows),
    ...kinds.map((kind, n) => toBesideTable(`while forms are sent: ${kind}`, beside[n] ?? [], P99_MAX)),
    `Refused: ${failed}. ${servers.map((server) => server.countStored()).join('. ')}.`,
  )
} finally {
  for (const server of servers) await server.end()
}
process.exit(0)
