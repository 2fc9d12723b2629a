// Servers with forms for benchmarks: a plain form, and forms with rules, a trained classifier, a reply and two channels.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { formatCount, note } from './harness.ts'
import { type LoadResult, load, postScript } from './load.ts'
import { callApi, type listVersions, seed, startTowpath, type Workspace } from './servers.ts'

export type FormKind = 'plain' | 'everything'
export const isFormKind = (word: string): word is FormKind => word === 'plain' || word === 'everything'
export const SENDERS = 64
const LESSONS = 40
const OWNERS = ['owner@example.com']

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
function fill(path: string, workspaceId: number, stored: number) {
  const database = new Database(path)
  const at = `${Date.now()} - (${stored} - n) * 1000`
  for (const pragma of ['synchronous=OFF', 'foreign_keys=OFF']) database.run(`PRAGMA ${pragma}`)
  const insert = (columns: string, values: string) =>
    database.run(`insert into ${columns} with recursive numbers (n) as
      (select 1 union all select n + 1 from numbers where n < ${stored}) select ${values} from numbers`)
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

interface FormServerOptions {
  kinds: FormKind[]
  /** Workspaces with a full form. */
  workspaces: number
  /** Submissions that the database has before. */
  stored?: number
  /** Options of the runtime, such as `--cpu-prof`. */
  runtime?: string[]
  /** PostgreSQL in place of SQLite. */
  databaseUrl?: string
  env?: Record<string, string>
  core?: number | null
}

export async function startForms(
  version: ReturnType<typeof listVersions>[number],
  { kinds, workspaces: count, stored: before = 0, runtime, databaseUrl, env, core }: FormServerOptions,
) {
  const workspaces: Workspace[] = []
  const first = await seed({ ...version, databaseUrl, links: 0 }, async (_db, _seeded, addWorkspace) => {
    if (kinds.includes('everything')) for (let n = 0; n < count; n++) workspaces.push(await addWorkspace())
  })
  if (before > 0) fill(join(version.dataDir, 'towpath.db'), first.workspaceId, before)
  const server = await startTowpath({ ...ENVIRONMENT, ...env }, { ...version, first: true, runtime, core })
  const { formKey } = await callApi<{ formKey: string }>(server, first.key, '/forms', PLAIN)
  const full: string[] = []
  for (const { key } of workspaces)
    full.push(await createFullForm(server, key, `http://127.0.0.1:${receiver.port}/hook`))
  note(`${version.name}: ${full.length} full forms are ready`)
  const formKeys: Record<FormKind, string[]> = { plain: [formKey], everything: full }
  let acknowledged = full.length * LESSONS * 2 + before
  return {
    ...server,
    workspaceId: first.workspaceId,
    async send(kind: FormKind, seconds: number): Promise<LoadResult> {
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
