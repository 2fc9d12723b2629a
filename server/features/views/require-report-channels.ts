// Checks that the channels of a report are channels of the workspace.

import { invalid } from '../../lib/failure.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { channelsExist } from '../notify/channels/channels-exist.ts'
import type { UpdateViewInput } from './schema.ts'

/** @throws Failure `invalid` */
export async function requireReportChannels(
  connection: Connection,
  actor: Actor,
  { report }: UpdateViewInput,
): Promise<void> {
  if (await channelsExist(connection, actor, report?.channelIds ?? [])) return
  throw invalid({ 'report.channelIds': 'must be channels of this workspace' })
}
