// The dialog that saves a view, and shares it.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ViewResource } from '../../../../server/features/views/schema.ts'
import { toFieldErrors } from '../../../api/client.ts'
import { createView, invalidateViews, updateView } from '../../../api/views.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyableText } from '../../../ui/copy/copyable-text.tsx'
import { DateTimeField } from '../../../ui/forms/date-time-field.tsx'
import { TextareaField, TextField, Toggle } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { AlertFields } from './alert-fields.tsx'
import { ReportFields } from './report-fields.tsx'
import { toViewDraft, toViewInput, type ViewDraft } from './view-draft.ts'

const FORM = 'view-form'

/** @param page the state of the page, which the new view saves */
export function ViewDialog({
  view,
  page,
  onClose,
}: {
  view?: ViewResource
  page: AnalyticsView
  onClose: () => void
}) {
  const api = useApi()
  const client = useQueryClient()
  const [draft, setDraft] = useState(() => toViewDraft(view))
  const change = (patch: Partial<ViewDraft>) => setDraft((before) => ({ ...before, ...patch }))
  const save = useMutation({
    mutationFn: () =>
      view ? updateView(api, view.id, toViewInput(draft, page)) : createView(api, toViewInput(draft, page)),
    onSuccess(saved) {
      void invalidateViews(client, api)
      toast(`“${saved.name}” saved`)
      // A new page has its address now.
      if (!saved.share || view?.share) onClose()
    },
    onError() {},
  })
  const { general, ...errors } = toFieldErrors(save.error, ['name', 'share', 'embed', 'report', 'alert'])
  const shown = save.data?.share ?? view?.share
  const isDone = save.isSuccess
  return (
    <Dialog
      onClose={onClose}
      title={view ? 'Edit view' : 'Save view'}
      footer={
        isDone ? (
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" form={FORM} variant="primary" busy={save.isPending}>
              Save
            </Button>
          </>
        )
      }
    >
      <Form
        id={FORM}
        className="grid gap-4"
        onSubmit={() => {
          if (!save.isPending && !isDone) save.mutate()
        }}
      >
        {general && <FormError>{general}</FormError>}
        {shown && draft.isShared && <CopyableText text={shown.url} label="Copy the shared link" />}
        {!isDone && <ViewFields draft={draft} change={change} errors={errors} isOld={view !== undefined} />}
      </Form>
    </Dialog>
  )
}

interface ViewFieldsProps {
  draft: ViewDraft
  change: (patch: Partial<ViewDraft>) => void
  errors: Record<string, string>
  isOld: boolean
}

function ViewFields({ draft, change, errors, isOld }: ViewFieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        required
        autoFocus
        autoComplete="off"
        maxLength={100}
        value={draft.name}
        error={errors.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      {isOld && (
        <Toggle
          label="Use the filters and the period of this page"
          checked={draft.takesPage}
          onChange={({ target }) => change({ takesPage: target.checked })}
        />
      )}
      <Toggle
        label="Share"
        hint="Everybody who has the link sees the figures, and can narrow them. No submissions, no destinations."
        checked={draft.isShared}
        onChange={({ target }) => change({ isShared: target.checked })}
      />
      {draft.isShared && <ShareFields draft={draft} change={change} errors={errors} />}
      <ReportFields draft={draft} change={change} errors={errors} />
      <AlertFields draft={draft.alert} change={change} errors={errors} />
    </>
  )
}

const ShareFields = ({ draft, change, errors }: Omit<ViewFieldsProps, 'isOld'>) => (
  <>
    <Toggle
      label="Show leads"
      hint="How many there are, never what they say."
      checked={draft.showLeads}
      onChange={({ target }) => change({ showLeads: target.checked })}
    />
    <Toggle
      label="Ask for a password"
      checked={draft.hasPassword}
      onChange={({ target }) => change({ hasPassword: target.checked, password: '' })}
    />
    {draft.hasPassword && (
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        maxLength={256}
        hint="Leave it empty to keep the one that is set."
        value={draft.password}
        error={errors['share.password']}
        onChange={({ target }) => change({ password: target.value })}
      />
    )}
    <DateTimeField
      label="Expires"
      placeholder="Never"
      value={draft.expiresAt}
      error={errors['share.expiresAt']}
      onChange={(expiresAt) => change({ expiresAt })}
    />
    <TextareaField
      label="Sites that may embed it"
      hint="One origin a line, such as https://example.com. Nobody when empty."
      error={errors.embed ?? Object.entries(errors).find(([name]) => name.startsWith('embed.'))?.[1]}
      value={draft.embed}
      onChange={({ target }) => change({ embed: target.value })}
    />
  </>
)
