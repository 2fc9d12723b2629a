// The second half of deleting a workspace: its rows are deleted, and this process still has its hits.

import type { Database } from '../../storage/database/database.ts'

export interface ErasureNeeds {
  db: Database
  now: () => number
  /** This node. Each data directory has its own hits, so each node marks its own erasures. */
  node: string
  eraseHits(workspaceIds: number[]): Promise<void>
}

/** For a node without hits, which has nothing to erase of workspaces that were deleted before it came. */
export async function skipPastErasures({
  db,
  now,
  node,
}: Omit<ErasureNeeds, 'invalidateWorkspace' | 'eraseHits'>) {
  await db.write((connection) =>
    connection
      .insertInto('erasure_marks')
      .columns(['workspace_id', 'node', 'done_at'])
      // Without a condition, SQLite would read the conflict as one of a join.
      .expression((e) =>
        e
          .selectFrom('erasures')
          .select(['workspace_id', e.val(node).as('node'), e.val(now()).as('done_at')])
          .where(e.lit(true)),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
}

/** Runs the erasures that are due at this node. An interrupted erasure is due again. */
export async function eraseDeletedWorkspaces({ db, now, node, ...needs }: ErasureNeeds): Promise<void> {
  const due = await db.read
    .selectFrom('erasures')
    .select('workspace_id')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('erasure_marks')
            .select('node')
            .where('node', '=', node)
            .whereRef('erasure_marks.workspace_id', '=', 'erasures.workspace_id'),
        ),
      ),
    )
    .orderBy('workspace_id')
    .execute()
  if (due.length === 0) return
  const ids = due.map((erasure) => erasure.workspace_id)
  await needs.eraseHits(ids)
  const marks = ids.map((id) => ({ workspace_id: id, node, done_at: now() }))
  await db.write((connection) =>
    connection
      .insertInto('erasure_marks')
      .values(marks)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
}
