// Gives a webhook a new signing secret. For a day both secrets sign, so that the receiver can change without a gap.

import { invalid } from '../../../lib/failure.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import type { NewChannelResource } from '../schema.ts'
import { CHANNELS_WRITE, type ChannelNeeds, describeChannel, getChannel, unsealSecrets } from './channel.ts'
import { newWebhookSecret } from './secrets.ts'

const OVERLAP_MS = 24 * 60 * 60 * 1000

/** @throws Failure `not_found`, or `invalid` for a channel that is no webhook */
export function rotateSecret(needs: ChannelNeeds, actor: Actor, id: number): Promise<NewChannelResource> {
  allow(actor, CHANNELS_WRITE)
  return needs.db.write(async (connection) => {
    const row = await getChannel(connection, actor, id)
    if (row.type !== 'webhook') throw invalid({ id: 'is not a webhook: only those have a signing secret' })
    const { secret: current, former: _, ...others } = unsealSecrets(needs, row)
    const [secret, at] = [newWebhookSecret(), needs.now()]
    const former = current === undefined ? undefined : { secret: current, until: at + OVERLAP_MS }
    const owner = { workspaceId: actor.workspaceId, channelId: id }
    const changed = await connection
      .updateTable('channels')
      .set({ sealed: needs.sealing.seal({ ...others, secret, former }, owner), updated_at: at })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const target = { type: 'channel', id, name: changed.name } as const
    await recordAudit(connection, actor, { action: 'channel.secret_rotated', target }, at)
    return { ...(await describeChannel({ ...needs, connection }, changed)), secret }
  })
}
