// Forms that answer their senders, on a server with a mail server.

import { afterAll, beforeAll, beforeEach, describe } from 'bun:test'
import type { DatabaseEngine } from '../../server/storage/database/open-database.ts'
import { type ReceivedMail, startMailServer } from './fake-servers/mail-server.ts'
import { BEHIND_PROXY, postToForm, URLENCODED_TYPE } from './form-requests.ts'
import type { HttpAnswer } from './server/http-call.ts'
import { until } from './until.ts'
import { BOTH_ENGINES, ENGINES, startServer, type TestServer, type TestWorkspace } from './world.ts'

type MailServer = Awaited<ReturnType<typeof startMailServer>>

export const REPLY = {
  subject: 'Thanks, {{name}}',
  text: 'Hello {{name}},\nwe got: {{message}}',
  confirm: false,
}

export interface ReplyForm {
  workspace: TestWorkspace
  id: number
  key: string
  submit(fields: Record<string, string>): Promise<HttpAnswer>
  /** The stored submissions, oldest first. */
  list(): Promise<{ id: number; status: string; announced: number; email: string | null }[]>
  /** The deliveries to senders, oldest first, as the API answers them. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  deliveries(): Promise<any[]>
  patch(fields: Record<string, unknown>): Promise<HttpAnswer>
}

export interface ReplyHouse {
  engine: DatabaseEngine
  server: TestServer
  mail: MailServer
  /** The server's clock. */
  now(): number
  /** Moves it. */
  advance(ms: number): void
  createForm(fields?: Record<string, unknown>, workspace?: TestWorkspace): Promise<ReplyForm>
  /** @returns the next `count` mails, once no delivery waits */
  settle(): Promise<ReceivedMail[]>
}

type ReplyTests = (house: () => ReplyHouse) => void

function onEngines(
  engines: DatabaseEngine[],
  name: string,
  tests: ReplyTests,
  environment: Record<string, string>,
) {
  describe.each(engines)(`${name} (%s)`, (engine) => {
    let house: ReplyHouse
    beforeAll(async () => {
      house = await openHouse(engine, environment)
    }, 120_000)
    beforeEach(() => {
      house.mail.mails.length = 0
      house.mail.refusing.all = false
    })
    afterAll(async () => {
      await house?.server.close()
      await house?.mail.stop()
    })
    tests(() => house)
  })
}

/** Runs the tests on the engines that `onBothEngines` of world.ts chooses. No mail of a test is left for the next one. */
export const withReplies = Object.assign(
  (name: string, tests: ReplyTests, environment: Record<string, string> = {}) =>
    onEngines(ENGINES, name, tests, environment),
  {
    quick: (name: string, tests: ReplyTests, environment: Record<string, string> = {}) =>
      onEngines(BOTH_ENGINES, name, tests, environment),
  },
)

async function openHouse(engine: DatabaseEngine, environment: Record<string, string>): Promise<ReplyHouse> {
  const mail = await startMailServer()
  const server = await startServer(engine, {
    environment: {
      ...BEHIND_PROXY.environment,
      SMTP_URL: mail.url(),
      MAIL_FROM: 'Towpath <go@towpath.example>',
      MAIL_PER_DAY: '1000000',
      ...environment,
    },
  })
  const { db } = server.app
  return {
    engine,
    server,
    mail,
    now: server.now,
    advance: server.advanceClock,
    async createForm(fields = {}, workspace) {
      const ws = workspace ?? (await server.createWorkspace())
      const body = { name: 'Contact', reply: REPLY, ...fields }
      const { status, text, json } = await ws.api('/forms', { method: 'POST', body })
      if (status !== 201) throw new Error(`the form was not created: ${status} ${text}`)
      const key: string = json.data.formKey
      const { id } = await db.read
        .selectFrom('forms')
        .select('id')
        .where('form_key', '=', key)
        .executeTakeFirstOrThrow()
      return {
        workspace: ws,
        id,
        key,
        submit: (values) => postToForm(server, { key }, URLENCODED_TYPE, String(new URLSearchParams(values))),
        list: () =>
          db.read
            .selectFrom('submissions')
            .select(['id', 'status', 'announced', 'email'])
            .where('workspace_id', '=', ws.id)
            .where('form_id', '=', id)
            .orderBy('id')
            .execute(),
        deliveries: async () => (await ws.api(`/deliveries?formKey=${key}&limit=100`)).json.data.reverse(),
        patch: (changes) => ws.api(`/forms/${key}`, { method: 'PATCH', body: changes }),
      }
    },
    async settle() {
      await until('no delivery that waits', async () => {
        const waiting = await db.read
          .selectFrom('deliveries')
          .select('id')
          .where('status', '=', 'waiting')
          .executeTakeFirst()
        return waiting === undefined
      })
      return mail.mails
    },
  }
}
