// Limits of the files of imports on this node (uploads in progress, waiting imports, and dry runs): one for each workspace, one
// for the node, and the reserve of the disk.

import { Failure, unavailable } from '../../../lib/failure.ts'
import { IMPORT_BYTES_OF_NODE, IMPORT_BYTES_OF_WORKSPACE } from '../schema.ts'
import type { ImportNeeds } from './import-run.ts'
import { listNeededUploads } from './prune-imports.ts'

type RoomNeeds = Pick<ImportNeeds, 'db' | 'node' | 'now' | 'disk'>

/** The reserved space of one upload, until its import has a row, or it is refused. */
export interface UploadRoom {
  /** @throws Failure `too_large`, `too_many`, `unavailable`, if there is no space for an upload of this size */
  growTo(bytes: number): Promise<void>
  release(): void
}
export type OpenUploadRoom = (workspaceId: number) => UploadRoom

interface Holding {
  workspaceId: number
  bytes: number
  releases: (() => void)[]
}

/** Sizes count in whole MiB, because small files take blocks and rows as well. */
const UNIT = 1024 ** 2
const toUnits = (bytes: number) => Math.max(1, Math.ceil(bytes / UNIT)) * UNIT

const RETRY_AFTER_SECONDS = 60

export function createUploadRooms(needs: RoomNeeds): OpenUploadRoom {
  const holdings = new Set<Holding>()
  return (workspaceId) => {
    const holding: Holding = { workspaceId, bytes: 0, releases: [] }
    holdings.add(holding)
    return {
      async growTo(bytes) {
        if (bytes <= holding.bytes) return
        await requireBudget(needs, holdings, workspaceId, toUnits(bytes) - holding.bytes)
        // Two files of one upload can grow at once.
        const more = toUnits(bytes) - holding.bytes
        if (more <= 0) return
        const release = needs.disk.hold(more)
        if (!release) throw unavailable('Too little room on the disk for an import', RETRY_AFTER_SECONDS)
        holding.bytes += more
        holding.releases.push(release)
      },
      release() {
        holdings.delete(holding)
        for (const release of holding.releases.splice(0)) release()
      },
    }
  }
}

type Sizes = Iterable<{ workspaceId: number; bytes: number }>

function sumBytes(sizes: Sizes, workspaceId?: number): number {
  let sum = 0
  for (const size of sizes)
    if (workspaceId === undefined || size.workspaceId === workspaceId) sum += size.bytes
  return sum
}

/** @throws Failure `too_large`, `too_many`, `unavailable` */
async function requireBudget(
  needs: RoomNeeds,
  holdings: ReadonlySet<Holding>,
  workspaceId: number,
  bytes: number,
): Promise<void> {
  if (bytes > IMPORT_BYTES_OF_WORKSPACE)
    throw new Failure(
      'too_large',
      `The upload is larger than ${MOST}. On the server, "npx towpath import" takes files of any size.`,
    )
  const count = (of?: number) => sumBytes(holdings, of)
  const before = [count(workspaceId), count()] as const
  const kept = [...(await listNeededUploads(needs)).values()].map((each) => ({
    ...each,
    bytes: toUnits(each.bytes),
  }))
  // An upload may have become a row after the rows were read. It must count once, so the larger value is used.
  const ofWorkspace = Math.max(before[0], count(workspaceId)) + sumBytes(kept, workspaceId)
  const ofNode = Math.max(before[1], count()) + sumBytes(kept)
  if (ofWorkspace + bytes > IMPORT_BYTES_OF_WORKSPACE)
    throw new Failure(
      'too_many',
      `The files of this workspace's imports and dry runs may have ${MOST} together. Wait until an import is done, or delete a dry run.`,
      { retryAfter: RETRY_AFTER_SECONDS },
    )
  if (ofNode + bytes > IMPORT_BYTES_OF_NODE)
    throw unavailable('The files of imports have reached the limit of this server', RETRY_AFTER_SECONDS)
}

const MOST = `${IMPORT_BYTES_OF_WORKSPACE / 1024 ** 3} GiB`
