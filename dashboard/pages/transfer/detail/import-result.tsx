// Result of an import or of a dry run: totals, notices, the outcome of each row, and next steps.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Ban, CircleCheck, CircleX, FlaskConical, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { type ImportResource, importDryRun, importQuery, undoImport } from '../../../api/transfer/imports.ts'
import { useApi, useCanEdit, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount, formatNumber } from '../../../ui/format.ts'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { canUndo, countItems } from '../import-state.ts'
import { clearImportDraft, getImportDraft } from '../new/import-draft.ts'
import { describeOutcome } from './describe-outcome.ts'
import { ImportRows } from './import-rows.tsx'

export function ImportResult({ item }: { item: ImportResource }) {
  return (
    <>
      <Outcome item={item} />
      {item.status !== 'undone' && item.notices.length > 0 && <Notices notices={item.notices} />}
      <ImportRows item={item} />
    </>
  )
}

const ICONS = {
  done: { Icon: CircleCheck, color: 'text-accent' },
  tried: { Icon: FlaskConical, color: 'text-accent' },
  undone: { Icon: Undo2, color: 'text-soft' },
  canceled: { Icon: Ban, color: 'text-soft' },
  failed: { Icon: CircleX, color: 'text-danger' },
}

function Outcome({ item }: { item: ImportResource }) {
  const { kind, title, text } = describeOutcome(item)
  const { Icon, color } = ICONS[kind]
  return (
    <Card>
      <div className="grid grid-cols-1 gap-5">
        <div className="flex items-start gap-3">
          <Icon size={22} className={`mt-0.5 shrink-0 ${color}`} aria-hidden />
          <div className="min-w-0">
            <h2 className="text-lg font-semibold">{title}</h2>
            <p className="break-words text-soft">{text}</p>
          </div>
        </div>
        {hasFigures(item) && <Figures item={item} />}
        <Actions item={item} />
      </div>
    </Card>
  )
}

const hasFigures = ({ status, created }: ImportResource) =>
  status === 'done' || (status === 'failed' && created > 0)

const FIGURE_HINTS: Record<string, string> = {
  Rows: 'Created, skipped and errors together',
  Renamed: 'Created under another slug',
  Clicks: 'Clicks of the click history that are new here',
}

function Figures({ item }: { item: ImportResource }) {
  const figures: [name: string, value: number][] = [
    ['Rows', item.rows],
    [item.dryRun ? 'To create' : 'Created', item.created],
    ['Skipped', item.skipped],
    ['Errors', item.failed],
    ['Renamed', item.renamed],
    ['Clicks', item.clicks],
  ]
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name} title={FIGURE_HINTS[name]} className="min-w-0 rounded-xl bg-sunken px-3 py-2">
          <dt className="text-sm text-soft">{name}</dt>
          <dd className="text-lg font-semibold tabular-nums break-words">{formatNumber(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A dry run that would bring something. */
const isWorthwhile = ({ dryRun, status, created, clicks }: ImportResource) =>
  dryRun && status === 'done' && created + clicks > 0

function Actions({ item }: { item: ImportResource }) {
  const { id } = useWorkspace()
  const canEdit = useCanEdit()
  const params = { workspaceId: String(id) }
  const isPrepared = getImportDraft(id).dryRunId === item.id
  return (
    <div className="flex flex-wrap items-center gap-2">
      {canEdit && isWorthwhile(item) && <DryRunActions item={item} />}
      {item.formKey !== null && <FormActions formKey={item.formKey} />}
      {item.formKey === null &&
        canEdit &&
        (item.dryRun || item.status === 'failed' || item.status === 'undone') && (
          <ButtonLink to="/$workspaceId/settings/transfer" params={params} search={{}}>
            {isPrepared ? 'Change settings' : 'Start again'}
          </ButtonLink>
        )}
      {item.formKey === null && !item.dryRun && item.status === 'done' && (
        <ButtonLink variant="primary" to="/$workspaceId/links" params={params} search={{ archived: 'all' }}>
          Show links
        </ButtonLink>
      )}
      {canEdit && canUndo(item) && <UndoButton item={item} />}
    </div>
  )
}

function FormActions({ formKey }: { formKey: string }) {
  const workspaceId = String(useWorkspace().id)
  return (
    <>
      <ButtonLink to="/$workspaceId/forms/$formKey" params={{ workspaceId, formKey }} search={{}}>
        Form
      </ButtonLink>
      <ButtonLink to="/$workspaceId/inbox" params={{ workspaceId }} search={{ formKey }}>
        Show submissions
      </ButtonLink>
    </>
  )
}

/** Undoes an import. The dialog says what goes and what stays. */
function UndoButton({ item }: { item: ImportResource }) {
  const api = useApi()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  async function undo() {
    const undone = await undoImport(api, item.id)
    client.setQueryData(importQuery(api, item.id).queryKey, undone)
    // The undone import continues with its own polling.
    void client.invalidateQueries({ queryKey: [api.workspaceId] })
    focusIfLost('#main')
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>Undo</Button>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Undo this import?"
        action="Undo the import"
        onConfirm={undo}
      >
        <p className="font-medium">This is deleted permanently:</p>
        <ul className="grid list-disc gap-1 pl-5">
          <li>
            Items that it created and that no one has changed since: {countItems(item, item.created)} at most.
            {item.formKey === null &&
              ' The short links stop working immediately, and other links can take them.'}
          </li>
          {item.clicks > 0 && (
            <li>The click history that it added: {formatCount(item.clicks, 'click')} at most.</li>
          )}
        </ul>
        <p className="font-medium">This stays:</p>
        <ul className="grid list-disc gap-1 pl-5">
          <li>Items that someone has changed since, because that work would be lost.</li>
          {item.formKey === null && <li>Links that brought leads, because submissions refer to them.</li>}
          <li>Everything from before the import, and the items that it skipped.</li>
        </ul>
        <p className="text-soft">The result lists what stayed. You can import the file again.</p>
      </ConfirmDialog>
    </>
  )
}

/** The button after a dry run that imports the same files with the same settings. */
function DryRunActions({ item }: { item: ImportResource }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/$workspaceId/settings/transfer/$importId' })
  const start = useMutation({
    mutationFn: () => importDryRun(api, item),
    onSuccess(started) {
      client.setQueryData(importQuery(api, started.id).queryKey, started)
      clearImportDraft(api.workspaceId)
      return navigate({ params: { importId: String(started.id) }, search: {} })
    },
    onError() {},
  })
  return (
    <>
      {start.error && (
        <div className="basis-full">
          <FormError>{start.error.message}</FormError>
        </div>
      )}
      <Button variant="primary" busy={start.isPending} onClick={() => start.mutate()}>
        {item.created > 0 ? `Import ${formatNumber(item.created)}` : 'Import'}
      </Button>
    </>
  )
}

function Notices({ notices }: { notices: string[] }) {
  const { id } = useWorkspace()
  const isAboutCase = notices.some((text) => /case/i.test(text))
  return (
    <Card title={formatCount(notices.length, 'notice')}>
      <ul className="grid list-disc gap-2 pl-5">
        {notices.map((text) => (
          <li key={text} className="break-words">
            {text}
          </li>
        ))}
      </ul>
      {isAboutCase && (
        <p className="mt-3 text-sm">
          <Link
            to="/$workspaceId/domains"
            params={{ workspaceId: String(id) }}
            search={{ new: '1' }}
            className="text-link"
          >
            Add a case-sensitive domain
          </Link>
        </p>
      )}
    </Card>
  )
}
