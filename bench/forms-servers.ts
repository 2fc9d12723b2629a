// The servers of the benchmarks of forms: a plain form, and forms with rules, a trained classifier, a reply and two channels,
// each in a workspace of its own, because a workspace sends 200 replies an hour.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import {
  callApi,
  formatCount,
  type LoadResult,
  load,
  note,
  postScript,
  seed,
  startTowpath,
  type Version,
  type Workspace,
} from './harness.ts'

const KINDS = ['plain', 'everything'] as const
export type FormKind = (typeof KINDS)[number]

/** @returns the kinds of forms that a command names, or both, and the other words of the command */
export function readKinds(words: string[]): { kinds: readonly FormKind[]; rest: string[] } {
  const named = KINDS.filter((kind) => words.includes(kind))
  const rest = words.filter((word) => !KINDS.some((kind) => kind === word))
  return { kinds: named.length > 0 ? named : KINDS, rest }
}

export const SENDERS = 64
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

interface FormsOptions {
  kinds: readonly FormKind[]
  /** Workspaces with a form that has everything on. */
  workspaces: number
  /** Options of the runtime, such as `--cpu-prof`. */
  runtime?: string[]
  /** Further settings, such as those of PostgreSQL. */
  environment?: Record<string, string>
}

export async function startForms(
  version: Version,
  { kinds, runtime, environment = {}, ...options }: FormsOptions,
) {
  const workspaces: Workspace[] = []
  const stores = { ...version, databaseUrl: environment.DATABASE_URL }
  const { key, workspaceId } = await seed({ ...stores, links: 1000 }, async (_db, _seeded, addWorkspace) => {
    const count = kinds.includes('everything') ? options.workspaces : 0
    for (let n = 0; n < count; n++) workspaces.push(await addWorkspace())
  })
  const server = await startTowpath({ ...ENVIRONMENT, ...environment }, { ...version, runtime, first: true })
  const { formKey } = await callApi<{ formKey: string }>(server, key, '/forms', PLAIN)
  const full: string[] = []
  for (const workspace of workspaces) full.push(await createFullForm(server, workspace.key))
  note(`${version.name}: ${full.length} full forms are ready`)
  const formKeys: Record<FormKind, string[]> = { plain: [formKey], everything: full }
  let acknowledged = full.length * LESSONS * 2
  return {
    ...server,
    workspaceId,
    async send(kind: FormKind, seconds: number, connections = SENDERS): Promise<LoadResult> {
      const script = createSubmissionScript(formKeys[kind])
      const result = await load(server, { connections, seconds, script })
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
