// Records on a channel that an attempt failed, and disables the channel when its failures will not end by themselves.

import { log } from '../../../lib/log.ts'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import type { DeliveryResult } from '../channels/contract.ts'
import { CHANNEL_DISABLED, enqueueOwnerNotice } from '../outbox/enqueue-deliveries.ts'
import type { Claim } from './claim-deliveries.ts'
import { describeFailure } from './describe-failure.ts'
import { planPauseEnd } from './retry-schedule.ts'

const FIVE_DAYS_MS = 5 * 24 * 60 * 60 * 1000

export interface ChannelFailureNeeds {
  connection: Connection
  onCommit: OnCommit
  wake: () => void
}

/** @param now when the attempt ended */
export async function recordChannelFailure(
  { connection, onCommit, wake }: ChannelFailureNeeds,
  { workspaceId, channel }: Claim,
  { result, now }: { result: DeliveryResult; now: number },
): Promise<void> {
  const pausedUntil = planPauseEnd(now, result.retryAfterMs)
  const row = await connection
    .updateTable('channels')
    .set((e) => ({
      failing_since: e.fn.coalesce('failing_since', e.val(now)),
      // A fault of the operator never counts against the channel.
      own_failures_since: result.operatorFault ? e.val(now) : e.fn.coalesce('own_failures_since', e.val(now)),
      last_error: describeFailure(result),
      ...(pausedUntil !== null && { paused_until: pausedUntil }),
    }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .returning('own_failures_since')
    .executeTakeFirst()
  const reason = findReasonToDisable(result, row?.own_failures_since ?? now, now)
  if (reason === undefined) return
  const { numUpdatedRows } = await connection
    .updateTable('channels')
    .set({ enabled: 0, disabled_reason: reason, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .where('enabled', '=', 1)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await enqueueOwnerNotice(connection, CHANNEL_DISABLED, { workspaceId, channelId: channel.id, at: now })
  onCommit(() => {
    log.warn('channel_disabled', { workspace: workspaceId, channel: channel.id, type: channel.type, reason })
    wake()
  })
}

function findReasonToDisable(
  result: DeliveryResult,
  ownFailuresSince: number,
  now: number,
): string | undefined {
  if (result.operatorFault) return undefined
  if (result.permanent?.what === 'channel') return result.permanent.reason
  if (now - ownFailuresSince < FIVE_DAYS_MS) return undefined
  return `Nothing but failures for five days; the last was: ${describeFailure(result)}`
}
