// Measures form submissions: bun bench/forms.ts [plain|everything] [<another checkout>] [--rounds=5] [--seconds=2]
// [--workspaces=100]. A plain form, and forms with rules, a trained classifier, a reply and two channels, beside a loop
// that only inserts such rows; then redirects beside full form load. With another checkout, its plain and full forms too.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import {
  atLeast,
  callApi,
  finish,
  formatCount,
  HOME,
  LOAD_COLUMNS,
  type LoadResult,
  listVersions,
  load,
  loadBeside,
  medianRatio,
  note,
  postScript,
  readOptions,
  runProgram,
  runRounds,
  seed,
  startTowpath,
  sumOf,
  toBesideTable,
  toLoadCells,
  toTable,
  type Version,
  type Workspace,
} from './harness.ts'

const KINDS = ['plain', 'everything'] as const
type FormKind = (typeof KINDS)[number]
const { words, ...options } = readOptions({ rounds: 5, seconds: 2, workspaces: 100 })
const isNamed = (kind: string) => words.includes(kind)
const kinds = KINDS.some(isNamed) ? KINDS.filter(isNamed) : KINDS
const P99_MAX = 2
const SHARE_OF_LOOP: Record<FormKind, number> = { plain: 0.35, everything: 0.2 }
const SENDERS = 64
const LESSONS = 40
const OWNERS = ['owner@example.com']
/** Nothing listens at the mail server. */
const ENVIRONMENT = {
  TRUST_PROXY: '127.0.0.1',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'go@towpath.example',
}
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
/** A workspace sends 200 replies an hour, so many workspaces share the submissions. */
const REPLY = { subject: 'Thanks, {{name}}', text: 'Hello {{name}}: {{message}}', confirm: false }
const PAGE_HEADERS = {
  Referer: 'https://shop.example/contact?utm_source=newsletter&utm_medium=email&utm_campaign=spring',
  Origin: 'https://shop.example',
  'Sec-Fetch-Mode': 'cors',
  Accept: '*/*',
  'Content-Type': 'application/x-www-form-urlencoded',
}
const BODY =
  '"name=Ada+Lovelace+" .. n .. "&email=ada." .. n .. "%40example.com&message=I+would+like+to+know+more+about+your+bicycles+and+when+they+are+in+the+shop+again&_next=%2Fthanks"'

let senders = 0
/** A page's script sends contact forms, each time to the next form and from another address. No two runs share an address. */
function createSubmissionScript(formKeys: string[]): string {
  const first = senders
  senders += 400_000
  const keys = `local keys = { ${formKeys.map((key) => `"${key}"`).join(', ')} }\n`
  return keys + postScript('"/f/" .. keys[n % #keys + 1]', PAGE_HEADERS, BODY, first)
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
  // The newest come first.
  const oldestFirst = stored.toReversed().map(({ id }) => id)
  for (const [part, status] of ['archived', 'spam'].entries()) {
    const ids = oldestFirst.filter((_, n) => n % 2 === part)
    await callApi(server, key, '/submissions/bulk', { ids, status }, 'PATCH')
  }
}

const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })

async function createFullForm(server: { port: number }, key: string): Promise<string> {
  const create = (path: string, body: object) =>
    callApi<{ id: number; formKey: string }>(server, key, path, body)
  const url = `http://127.0.0.1:${receiver.port}/hook`
  const channels = [
    await create('/channels', { type: 'webhook', name: 'Hook', url }),
    await create('/channels', { type: 'email', name: 'Mail', to: OWNERS }),
  ]
  const { formKey } = await create('/forms', EVERYTHING)
  await teach(server, key, formKey)
  // Lessons get no replies and no notifications.
  const settings = { reply: REPLY, channelIds: channels.map(({ id }) => id) }
  await callApi(server, key, `/forms/${formKey}`, settings, 'PATCH')
  return formKey
}

async function startForms(version: Version) {
  const workspaces: Workspace[] = []
  const { key } = await seed({ ...version, links: 1000 }, async (_db, _seeded, addWorkspace) => {
    const count = kinds.includes('everything') ? options.workspaces : 0
    for (let n = 0; n < count; n++) workspaces.push(await addWorkspace())
  })
  const server = await startTowpath(ENVIRONMENT, { ...version, first: true })
  const { formKey } = await callApi<{ formKey: string }>(server, key, '/forms', PLAIN)
  const full: string[] = []
  for (const workspace of workspaces) full.push(await createFullForm(server, workspace.key))
  note(`${version.name}: ${full.length} full forms are ready`)
  const formKeys: Record<FormKind, string[]> = { plain: [formKey], everything: full }
  let acknowledged = full.length * LESSONS * 2
  return {
    ...server,
    async send(kind: FormKind, seconds: number): Promise<LoadResult> {
      const script = createSubmissionScript(formKeys[kind])
      const result = await load(server, { connections: SENDERS, seconds, script })
      acknowledged += result.perSecond * seconds - result.failed
      return result
    },
    describeStored() {
      const database = new Database(join(version.dataDir, 'towpath.db'), { readonly: true })
      const [[stored]] = database.query('select count(*) from submissions').values() as [[number]]
      return `${version.name}: ${formatCount(acknowledged)} acknowledged, ${formatCount(stored)} stored`
    },
  }
}

const loopDir = join(HOME, 'loop')
const { workspaceId } = await seed({ dataDir: loopDir, links: 1 })
const loop = () => runProgram<LoadResult>(0, 'forms-inserts.ts', loopDir, workspaceId, options.seconds)
const versions = listVersions(words.filter((word) => !KINDS.some((kind) => kind === word)))
const servers: Awaited<ReturnType<typeof startForms>>[] = []
for (const version of versions) servers.push(await startForms(version))
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
    ...toLoadCells(rounds),
    `${share.toFixed(2)}${kind ? `, ${atLeast(SHARE_OF_LOOP[kind], share)}` : ''}`,
    other ? medianRatio(rounds, other, 'processorUs').toFixed(2) : '',
  ]
})
const [towpath] = servers as [(typeof servers)[number]]
const startLoad = (kind: FormKind) => () => ({
  ended: towpath.send(kind, Math.ceil(options.seconds) + 2),
  stop() {},
})
const beside = await runRounds(
  options.rounds,
  kinds.map((kind) => () => loadBeside(towpath.port, options.seconds, startLoad(kind))),
  'redirects:',
)
finish(
  toTable([`${SENDERS} connections`, ...LOAD_COLUMNS, 'of the loop', 'µs / the other checkout'], rows),
  ...kinds.map((kind, n) => toBesideTable(`while forms are sent: ${kind}`, beside[n] ?? [], P99_MAX)),
  `Refused: ${sumOf(results.flat(), 'failed')}. ${servers.map((server) => server.describeStored()).join('. ')}.`,
)
