// Check: the receivers of notifications. Findings name types of channels only: never a URL, a name or a workspace.

import { type CheckResult, complaintsOr, problem, warning } from '../finding.ts'
import { type DoctorNeeds, type RowReader, withRows } from '../needs.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** A receiver that is away for a moment is tried again. */
const FAILING_MS = HOUR
/** A healthy deliverer is never this late. */
const LATE_MS = 10 * MINUTE

export const checkReceivers = (needs: DoctorNeeds): Promise<CheckResult[]> =>
  withRows(needs, async ({ read }) => {
    const now = needs.now()
    return complaintsOr(
      [...(await findFailing(read, now)), ...(await findDisabled(read)), ...(await findBacklog(read, now))],
      'All notifications are up to date.',
    )
  })

type Rows = RowReader['read']

async function findFailing(read: Rows, now: number): Promise<CheckResult[]> {
  const failing = await read
    .selectFrom('channels')
    .select((e) => ['type', e.fn.countAll<number>().as('n'), e.fn.min('failing_since').as('since')])
    .where('enabled', '=', 1)
    .where('failing_since', '<', now - FAILING_MS)
    // Replies to senders fail only with the mail server, which has its own check.
    .where('type', '<>', 'reply')
    .groupBy('type')
    .execute()
  return failing.map(({ type, n, since }) =>
    warning(
      `Channels of the type ${type} that fail: ${n}, the first since ${new Date(Number(since)).toISOString()}.`,
      'Settings of the channel show the last error. After five days of failures it is disabled, and the owners get an email.',
    ),
  )
}

async function findDisabled(read: Rows): Promise<CheckResult[]> {
  const disabled = await read
    .selectFrom('channels')
    .select((e) => ['type', e.fn.countAll<number>().as('n')])
    .where('enabled', '=', 0)
    .where('disabled_reason', 'is not', null)
    .groupBy('type')
    .execute()
  return disabled.map(({ type, n }) =>
    warning(
      `Channels of the type ${type} that were disabled because they failed: ${n}.`,
      'Correct their receivers, and enable the channels again in their settings.',
    ),
  )
}

async function findBacklog(read: Rows, now: number): Promise<CheckResult[]> {
  const late = await read
    .selectFrom('deliveries')
    .innerJoin('channels', 'channels.id', 'deliveries.channel_id')
    .select((e) => [
      'channels.type',
      e.fn.countAll<number>().as('n'),
      e.fn.min('deliveries.due_at').as('due'),
    ])
    .where('deliveries.status', '=', 'waiting')
    .where('deliveries.due_at', '<', now - LATE_MS)
    .where('channels.enabled', '=', 1)
    .groupBy('channels.type')
    .execute()
  return late.map(({ type, n, due }) =>
    problem(
      `Late notifications for channels of the type ${type}: ${n}, the first since ${new Date(Number(due)).toISOString()}.`,
      'Is the server running? See its log for the deliverer, and towpath_deliveries in /metrics.',
    ),
  )
}
