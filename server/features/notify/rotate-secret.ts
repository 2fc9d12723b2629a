// A new signing secret for a webhook. For a day both sign, so that the receiver can change over without a gap.

import { invalid } from '../../lib/failure.ts'
import { type Actor, allow } from '../accounts/actor.ts'
import { CHANNELS_WRITE, type ChannelNeeds, channelResource, findChannel, secretsOf } from './channel.ts'
import type { NewChannelResource } from './schema.ts'
import { newWebhookSecret } from './secrets.ts'

const BOTH_MS = 24 * 60 * 60 * 1000

/** @throws Failure `not_found`, `invalid` for what is no webhook */
export function rotateSecret(needs: ChannelNeeds, actor: Actor, id: number): Promise<NewChannelResource> {
  allow(actor, CHANNELS_WRITE)
  return needs.rows.write(async (db) => {
    const row = await findChannel(db, actor, id)
    if (row.type !== 'webhook') throw invalid({ id: 'is not a webhook: only those have a signing secret' })
    const { secret: old, former: _, ...others } = secretsOf(needs, row)
    const [secret, at] = [newWebhookSecret(), needs.now()]
    const former = old === undefined ? undefined : { secret: old, until: at + BOTH_MS }
    const owner = { workspaceId: actor.workspaceId, channelId: id }
    const changed = await db
      .updateTable('channels')
      .set({ sealed: needs.sealing.seal({ ...others, secret, former }, owner), updated_at: at })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return { ...channelResource(changed), secret }
  })
}
