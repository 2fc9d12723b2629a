// A node with rows and hits, for tests of the inference of clicks: submissions are stored as the form endpoint does.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from '../../../tests/support/migrated-database.ts'
import { startWorkerHere } from '../../../tests/support/server/worker-here.ts'
import { until } from '../../../tests/support/until.ts'
import {
  type DatabaseEngine,
  type DatabaseHandle,
  openDatabase,
} from '../../storage/database/open-database.ts'
import { createWorkspace } from '../accounts/workspaces/create-workspace.ts'
import { createClickIds } from '../hits/click-id.ts'
import { createRawHit } from '../hits/spool/raw-hit.fixture.ts'
import type { RawHit } from '../hits/spool/raw-hit.ts'
import { openSpool, type Spool } from '../hits/spool/spool.ts'
import { type HitWorkerClient, openHitWorkerClient } from '../hits/worker/client.ts'
import { creditLeads } from '../links/credit-leads.ts'
import { createDailySalts } from '../visitors/salts.ts'
import { type ClickInference, createClickInference } from './infer-clicks.ts'
import { createSenderDescriber } from './sender.ts'

export const NOON = Date.parse('2026-05-10T12:00:00Z')
export const SALTS = ['09', '10', '11'].map((day) => ({ day: `2026-05-${day}`, salt: day.repeat(32) }))
const ids = createClickIds('a secret that is long enough', 'f'.repeat(16))
const book = createDailySalts()
book.set(SALTS)
const describeSender = createSenderDescriber({
  geo: () => ({ findPlace: () => ({ country: null, region: null, city: null, continent: null }) }),
  getSalt: book.get,
})

/** This node's knowledge of the others. */
export interface Others {
  shippedUntil: number
  /** The time of this node, where a test sets it. */
  now?: number
}

export interface House {
  db: DatabaseHandle
  spool: Spool
  hitWorker: HitWorkerClient
  attribution: ClickInference
  /** Asks the hit worker. A test may put another in its place. */
  findLastClicks: HitWorkerClient['findLastClicks']
  questions: number
  close(): Promise<void>
}

export async function openHouse(
  engine: DatabaseEngine,
  dataDir = mkdtempSync(join(tmpdir(), 'towpath-infer-')),
  others: Others = { shippedUntil: Number.POSITIVE_INFINITY },
): Promise<House> {
  const database = engine === 'postgres' ? await migratedDatabase() : undefined
  const db = await openDatabase({ dataDir, databaseUrl: database?.url })
  const spool = await openSpool({ dir: join(dataDir, 'spool'), segmentBytes: 256 * 1024 })
  const hitWorker = openHitWorkerClient({
    startWorker: startWorkerHere,
    dataDir,
    spool,
    salts: SALTS,
    ownHosts: [],
    countedUpTo: 0,
    storeCounts: async () => {},
    // Nothing is shipped by itself while a test runs.
    shipEveryMs: 60_000,
  })
  const house: House = {
    db,
    spool,
    hitWorker,
    findLastClicks: hitWorker.findLastClicks,
    questions: 0,
    attribution: createClickInference({
      db,
      clickIds: ids,
      creditLeads,
      now: () => others.now ?? Date.now(),
      getOthersShippedUntil: () => others.shippedUntil,
      hits: {
        findLastClicks(...asked) {
          house.questions++
          return house.findLastClicks(...asked)
        },
      },
    }),
    async close() {
      await hitWorker.close()
      await spool.close()
      await db.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return house
}

let names = 0
export async function newForm({ db }: House) {
  const workspace = await createWorkspace({ db, now: () => NOON }, { name: 'Test', plan: 'pro' })
  const form = await db.write((connection) =>
    connection
      .insertInto('forms')
      .values({
        workspace_id: workspace.id,
        form_key: `form${++names}`,
        name: 'Form',
        redirect_url: null,
        success_message: null,
        created_at: NOON,
        updated_at: NOON,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return { workspaceId: workspace.id, formId: form.id }
}
export type Form = Awaited<ReturnType<typeof newForm>>

export type Who = Pick<RawHit, 'address' | 'userAgent'>
export const WHO: Who = (({ address, userAgent }) => ({ address, userAgent }))(createRawHit())
export const visitorOf = ({ workspaceId }: Form, at: number, who: Who = WHO) =>
  describeSender({ at, workspaceId, ...who, referer: '' }).visitor

/** Stores submissions as the form endpoint does. */
export async function submit(
  house: House,
  form: Form,
  all: { at: number; visitor?: string | null; due?: number }[],
) {
  const absent = {
    notes: null,
    email: null,
    duplicate_of: null,
    link_id: null,
    click_id: null,
    event_id: null,
  }
  const described = Object.fromEntries(
    'referrer page_url landing_url utm_source utm_medium utm_campaign utm_term utm_content device browser os country region city'
      .split(' ')
      .map((column) => [column, null]),
  ) as Record<'referrer', null>
  const added = await house.db.write((connection) =>
    connection
      .insertInto('submissions')
      .values(
        all.map(({ at, visitor = visitorOf(form, at), due = 1 }) => ({
          ...absent,
          ...(described as never as typeof absent),
          workspace_id: form.workspaceId,
          form_id: form.formId,
          fields: '[]',
          search_text: '',
          fingerprint: '',
          visitor,
          attribution_due: due,
          created_at: at,
        })) as never,
      )
      .returning('id')
      .execute(),
  )
  return added.map(({ id }) => id)
}

export async function stored({ db }: House, { workspaceId }: Form) {
  const found = await db.read
    .selectFrom('submissions')
    .select(['link_id', 'click_id', 'attribution', 'attribution_due'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  return found.map(({ link_id, click_id, attribution, attribution_due }) => ({
    linkId: link_id,
    click: click_id && (ids.verify(click_id, workspaceId) ?? 'forged'),
    attribution: attribution_due === 1 ? 'due' : attribution,
  }))
}
export const links = async (house: House, form: Form) =>
  (await stored(house, form)).map(({ linkId }) => linkId)
export const states = async (house: House, form: Form) =>
  (await stored(house, form)).map(({ attribution }) => attribution)
/** Asks until there is a decision: a busy machine may take longer than a reader waits. */
export const decide = (house: House, form: Form) =>
  until('the submissions are decided', async () => {
    await house.attribution.resolvePendingAttribution(form.workspaceId)
    return !(await states(house, form)).includes('due')
  })
export const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
