// Checks that the channels of a report and of an alert are channels of the workspace.

import { invalid } from '../../lib/failure.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { channelsExist } from '../notify/channels/use-for-forms.ts'
import type { UpdateViewInput } from './schema.ts'

/** @throws Failure `invalid` */
export async function requireViewChannels(
  connection: Connection,
  actor: Actor,
  { report, alert }: UpdateViewInput,
): Promise<void> {
  for (const [name, settings] of Object.entries({ report, alert }))
    if (!(await channelsExist(connection, actor, settings?.channelIds ?? [])))
      throw invalid({ [`${name}.channelIds`]: 'must be channels of this workspace' })
}
