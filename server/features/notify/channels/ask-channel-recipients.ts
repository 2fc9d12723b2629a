// Asks the unconfirmed recipients of a channel once more, for a mail that was lost.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { askAgain } from '../recipients/ask-recipients.ts'
import { CHANNELS_WRITE, type ChannelNeeds, describeChannel, getChannel } from './channel.ts'

/** @returns how many recipients a mail was sent to @throws Failure `not_found`, `too_many` */
export async function askChannelRecipients(
  needs: ChannelNeeds,
  actor: Actor,
  id: number,
): Promise<{ mailed: number }> {
  allow(actor, CHANNELS_WRITE)
  const row = await getChannel(needs.db.read, actor, id)
  const { unconfirmed } = await describeChannel({ ...needs, connection: needs.db.read }, row)
  return { mailed: await askAgain(needs, actor.workspaceId, unconfirmed) }
}
