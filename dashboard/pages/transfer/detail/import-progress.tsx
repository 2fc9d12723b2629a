// Progress of an import: the stage, the rows and the clicks.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type ImportResource, importQuery, undoImport } from '../../../api/transfer/imports.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatCount } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { ProgressBar } from '../../../ui/progress-bar.tsx'
import { formatWholePercent } from '../import-state.ts'

const STAGES = {
  check: 'Check the files',
  links: 'Create the links',
  clicks: 'Add the click history',
}
type Stages = Partial<typeof STAGES>
const SUBMISSION_STAGES: Stages = { check: 'Check the file', links: 'Add the submissions' }

const toStages = ({ source }: ImportResource): Stages =>
  source === 'submissions' ? SUBMISSION_STAGES : STAGES

/** @param problem why the newest state is not known */
export function ImportProgress({ item, problem }: { item: ImportResource; problem: Error | null }) {
  const canEdit = useCanEdit()
  const isQueued = item.status === 'queued'
  return (
    <Card title={toHeading(item)} actions={canEdit && item.stage !== 'undo' && <CancelButton item={item} />}>
      <div className="grid gap-4">
        <ProgressBar label="Import" part={item.progress} />
        <p className="flex flex-wrap justify-between gap-x-4 text-sm text-soft tabular-nums">
          <span>
            {formatCount(item.rows, 'row')}
            {(item.clicksFileName !== null || item.clicks > 0) && `, ${formatCount(item.clicks, 'click')}`}
          </span>
          <span>{isQueued ? 'Waiting in line.' : formatWholePercent(item.progress)}</span>
        </p>
        {item.stage !== 'undo' && <Stages item={item} />}
        <p
          role="status"
          className={classNames('min-h-10 text-sm sm:min-h-5', problem ? 'text-warn' : 'text-soft')}
        >
          {problem
            ? `${problem.message} The import goes on, and this page asks again.`
            : 'You can leave this page. The import goes on, even if the server restarts.'}
        </p>
      </div>
    </Card>
  )
}

function toHeading({ status, stage, dryRun }: ImportResource): string {
  if (status === 'queued') return 'Waiting'
  if (stage === 'undo') return 'Undoing the import'
  return dryRun ? 'Running the dry run' : 'Importing'
}

/** Screen readers announce every tenth change only. */
export const toProgressText = (item: ImportResource) =>
  item.status === 'queued'
    ? toHeading(item)
    : `${item.stage === 'undo' ? 'Undo' : (toStages(item)[item.stage] ?? 'End')}, ${formatWholePercent(Math.floor(item.progress * 10) / 10)}`

function Stages({ item }: { item: ImportResource }) {
  const stages = Object.entries(toStages(item))
  const current = item.status === 'queued' ? -1 : stages.findIndex(([name]) => name === item.stage)
  return (
    <ol className="grid gap-2 sm:grid-cols-3">
      {stages.map(([name, label], at) => (
        <li
          key={name}
          aria-current={at === current ? 'step' : undefined}
          className={classNames(
            'rounded-lg border px-3 py-2 text-sm',
            at === current ? 'border-accent font-medium' : 'border-line text-soft',
          )}
        >
          {at < current ? '✓ ' : `${at + 1}. `}
          {label}
          {at < current && <span className="sr-only"> (done)</span>}
        </li>
      ))}
    </ol>
  )
}

/** Canceling undoes the changes so far: a dry run and a waiting import have none, so they need no question. */
function CancelButton({ item }: { item: ImportResource }) {
  const api = useApi()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const cancel = useMutation({
    mutationFn: () => undoImport(api, item.id),
    onSuccess: (canceled) => client.setQueryData(importQuery(api, item.id).queryKey, canceled),
    onError: (error) => toastError(error, 'Couldn’t cancel'),
  })
  const mustAsk = !item.dryRun && item.status === 'running'
  return (
    <>
      <Button
        size="small"
        busy={cancel.isPending}
        onClick={() => (mustAsk ? setAsking(true) : cancel.mutate())}
      >
        Cancel
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Cancel this import?"
        action="Cancel the import"
        cancel="Keep importing"
        onConfirm={() => cancel.mutateAsync()}
      >
        <p>What it has created so far is deleted. Everything that was here before stays.</p>
      </ConfirmDialog>
    </>
  )
}
