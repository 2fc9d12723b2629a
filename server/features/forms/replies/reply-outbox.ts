// Decides in a submission's transaction whether its sender gets a mail, and stores the delivery (docs/contract.md §13). The
// limits are rows of the same transaction: no crash and no second process breaks them.

import { sql } from 'kysely'
import addressparser from 'nodemailer/lib/addressparser'
import type { Metric } from '../../../http/health-and-metrics.ts'
import { log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type {
  Connection,
  Database,
  DatabaseEngine,
  OnCommit,
} from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import { lockWorkspace } from '../../accounts/workspaces/lock-workspace.ts'
import { enqueueReply } from '../../notify/outbox/enqueue-reply.ts'
import { type AddressHasher, isAnswerable, toMailbox } from './mailbox.ts'
import { isStopped } from './read-reply.ts'
import type { ReplySettings } from './schema.ts'

/** In any hour, for a workspace: as many replies, and as many mails that ask for a confirmation. */
export const REPLIES_PER_HOUR = 200
const HOUR_MS = 60 * 60_000
/** Transactions take turns in another order than their times. A later time than this is of a clock that was wrong. */
const CLOCK_AHEAD_MS = HOUR_MS
const LIMITS_KEPT = 2_000

export interface ReplyingForm {
  id: number
  workspaceId: number
  reply: ReplySettings | null
}

export interface AnsweredSubmission {
  id: number
  email: string | undefined
  at: number
}

export interface ReplyOutboxNeeds {
  engine: DatabaseEngine
  hashAddress: AddressHasher
  /** Absent without a mail server: then there are no replies, and submissions need no confirmation. */
  mailFrom: string | undefined
  /** Tells the deliverer that a delivery waits. */
  wakeDeliverer: () => void
  /** Called once an hour at most while the workspace gets no replies because of its limit. */
  onLimit: (workspaceId: number) => void
}

export interface ReplyOutbox {
  /** False where `answer` does nothing. */
  mayAnswer(form: ReplyingForm, email: string | undefined): boolean
  /** True where the submission counts only once its sender has confirmed it. */
  mustConfirm(form: ReplyingForm, email: string | undefined): boolean
  /** In the transaction that stores the submission, which is neither spam nor a duplicate. */
  answer(
    connection: Connection,
    onCommit: OnCommit,
    form: ReplyingForm,
    submission: AnsweredSubmission,
  ): Promise<void>
  metrics(): Metric[]
}

const OUTCOMES = ['queued', 'program', 'stopped', 'daily', 'hourly'] as const
type Outcome = (typeof OUTCOMES)[number]
/** Of a mail that asks for no confirmation, and of one that asks for it. */
const EVENTS = ['reply', 'confirm'] as const

export function createReplyOutbox(needs: ReplyOutboxNeeds): ReplyOutbox {
  const { mailFrom, hashAddress, wakeDeliverer } = needs
  const ownMailbox = readMailbox(mailFrom)
  const counts = new Map<Outcome, number>(OUTCOMES.map((outcome) => [outcome, 0]))
  const limited = createReachedLimits()
  const bounds = createCountBounds()

  async function queue(
    connection: Connection,
    onCommit: OnCommit,
    form: ReplyingForm,
    { id, email, at }: AnsweredSubmission & { email: string },
  ): Promise<Outcome> {
    const { workspaceId } = form
    const confirms = form.reply?.confirm === true ? 1 : 0
    const limit = `${workspaceId} ${confirms}`
    if (!isAnswerable(email) || toMailbox(email) === ownMailbox) return 'program'
    if (limited.has(limit, at)) return 'hourly'
    // Transactions at the same moment do not see each other's replies. They are few: the limit is 200 an hour.
    if (needs.engine === 'postgres') await lockWorkspace(connection, workspaceId)
    const address = hashAddress(workspaceId, email)
    const ahead = at + CLOCK_AHEAD_MS
    if (await isStopped(connection, workspaceId, address)) return 'stopped'
    if (needs.engine === 'postgres' || !bounds.isBelowLimit(limit, at)) {
      const [counted] = await countReplies(connection, { workspaceId, confirms, since: at - HOUR_MS, ahead })
      bounds.set(limit, Number(counted?.all), at)
      if (Number(counted?.sent) >= REPLIES_PER_HOUR) {
        const until = Number(counted?.oldest ?? at) + HOUR_MS
        onCommit(() => {
          if (!limited.add(limit, until, at)) return
          log.warn('replies_limited', { workspace: workspaceId, perHour: REPLIES_PER_HOUR })
          needs.onLimit(workspaceId)
        })
        return 'hourly'
      }
    }
    const row = { form_id: form.id, address, workspace_id: workspaceId, queued_at: at, confirms }
    const counted = await countReply(connection, { ...row, dayAgo: at - DAY_MS, ahead })
    if (counted.length === 0) return 'daily'
    await enqueueReply(connection, { workspaceId, submissionId: id, event: EVENTS[confirms], at })
    bounds.addOne(limit)
    return 'queued'
  }

  const mayAnswer = ({ reply }: ReplyingForm, email?: string): email is string =>
    mailFrom !== undefined && reply !== null && email !== undefined

  return {
    mayAnswer,
    mustConfirm: (form, email) => mayAnswer(form, email) && form.reply?.confirm === true,
    async answer(connection, onCommit, form, { email, ...submission }) {
      if (!mayAnswer(form, email)) return
      const outcome = await queue(connection, onCommit, form, { ...submission, email })
      onCommit(() => {
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
        if (outcome === 'queued') wakeDeliverer()
      })
    },
    metrics: () =>
      OUTCOMES.map(
        (outcome): Metric => ({
          name: 'towpath_replies_total',
          kind: 'counter',
          help: 'Submissions to forms with an auto-reply: queued, or why the sender gets none',
          labels: { outcome },
          value: counts.get(outcome) ?? 0,
        }),
      ),
  }
}

function readMailbox(mailFrom = ''): string | undefined {
  const address = addressparser(mailFrom, { flatten: true })[0]?.address
  return address && toMailbox(address)
}

/** Spares the database the question while the answer is known. */
function createReachedLimits() {
  const limits = new Map<string, number>()
  return {
    /** A limit that ends later than in an hour was set before the clock was. */
    has(limit: string, at: number) {
      const until = limits.get(limit)
      return until !== undefined && until > at && until <= at + HOUR_MS
    },
    /** @returns whether this is the first time in an hour */
    add(limit: string, until: number, at: number): boolean {
      const before = limits.get(limit)
      const isNew = before === undefined || before < at - HOUR_MS || before > at + HOUR_MS
      limits.delete(limit)
      limits.set(limit, until)
      const [oldest] = limits.keys()
      if (limits.size > LIMITS_KEPT && oldest !== undefined) limits.delete(oldest)
      return isNew
    },
  }
}

/**
 * The most replies that each limit can have counted since a moment. An SQLite file has one process, which queues all
 * replies: below the limit it need not count up to 200 rows for each submission. A transaction that is rolled back makes
 * the bound too high, so that the rows are counted sooner.
 */
function createCountBounds() {
  const bounds = new Map<string, { count: number; at: number }>()
  return {
    /** False for a moment before the count: the hour before it has other replies. */
    isBelowLimit(limit: string, at: number): boolean {
      const bound = bounds.get(limit)
      return bound !== undefined && at >= bound.at && bound.count < REPLIES_PER_HOUR
    },
    set(limit: string, count: number, at: number) {
      if (bounds.size >= LIMITS_KEPT) bounds.clear()
      bounds.set(limit, { count, at })
    },
    addOne(limit: string) {
      const bound = bounds.get(limit)
      if (bound) bound.count++
    },
  }
}

interface LimitQuery extends Record<string, unknown> {
  workspaceId: number
  confirms: number
  since: number
  ahead: number
}

/** `all` counts those of a wrong clock, too, which count once it has come there. */
const countReplies = prepareQuery((connection, { workspaceId, confirms, since, ahead }: LimitQuery) =>
  connection
    .selectFrom('replies')
    .where('workspace_id', '=', workspaceId)
    .where('confirms', '=', confirms)
    .where('queued_at', '>', since)
    .select((e) => [
      e.fn.countAll<number>().as('all'),
      e.fn.countAll<number>().filterWhere('queued_at', '<=', ahead).as('sent'),
      e.fn.min('queued_at').as('oldest'),
    ]),
)

interface CountedReply extends Record<string, unknown> {
  form_id: number
  address: string
  workspace_id: number
  queued_at: number
  confirms: number
  dayAgo: number
  ahead: number
}

/** @returns no row where the address had a reply of the form within a day */
const countReply = prepareQuery((connection, { dayAgo, ahead, ...row }: CountedReply) =>
  connection
    .insertInto('replies')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['form_id', 'address'])
        .doUpdateSet((e) => ({
          queued_at: e.ref('excluded.queued_at'),
          confirms: e.ref('excluded.confirms'),
        }))
        .where((e) => e.or([e('replies.queued_at', '<=', dayAgo), e('replies.queued_at', '>', ahead)])),
    )
    .returning('form_id'),
)

/** Deletes records of replies once they limit nothing any more. */
export async function pruneReplies(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'replies', sql`queued_at <= ${now - DAY_MS}`)
}
