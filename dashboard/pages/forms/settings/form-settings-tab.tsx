// The settings of a form, on pages with an address each. All pages share one draft, which one bar saves.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { FormResource } from '../../../../server/features/forms/schema.ts'
import { toFieldErrors } from '../../../api/client.ts'
import { deleteForm, formQuery, updateForm } from '../../../api/forms.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Form } from '../../../ui/forms/form.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { SaveBar } from '../../../ui/forms/save-bar.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { SIDE_NAV_GRID } from '../../../ui/page.tsx'
import {
  type FormDraft,
  findChanges,
  findSettingsPage,
  type GroupProps,
  listPagesOf,
  type PageId,
  SHOWN_SETTINGS,
} from './form-draft.ts'
import { BasicsGroup } from './groups/basics-group.tsx'
import { BrandGroup } from './groups/brand-group.tsx'
import { ConsentGroup } from './groups/consent-group.tsx'
import { FieldsGroup } from './groups/fields-group.tsx'
import { FilesGroup } from './groups/files-group.tsx'
import { LabelsGroup } from './groups/labels-group.tsx'
import { MessagesGroup } from './groups/messages-group.tsx'
import { NotificationsGroup } from './groups/notifications-group.tsx'
import { ReplyGroup } from './groups/reply-group.tsx'
import { RetentionGroup } from './groups/retention-group.tsx'
import { SendingGroup } from './groups/sending-group.tsx'
import { FilterGroup, ProtectionGroup } from './groups/spam-group.tsx'
import { SettingsPageLinks } from './settings-group.tsx'

/** The first invalid control, or the first message about a whole group. */
const FIRST_ERROR = '[aria-invalid=true], [role=alert]'

function useFormDraft(form: FormResource) {
  const api = useApi()
  const client = useQueryClient()
  const [unsaved, setUnsaved] = useState<Partial<FormDraft>>({})
  const draft: FormDraft = { ...form, ...unsaved }
  const changes = findChanges(draft, form)
  const save = useMutation({
    mutationFn: () => updateForm(api, form.formKey, changes),
    onSuccess(saved) {
      client.setQueryData(formQuery(api, form.formKey).queryKey, saved)
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms', 'list'] })
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms', 'names'] })
      setUnsaved({})
      toast('Settings saved')
    },
    onError() {},
  })
  return {
    draft,
    changed: Object.keys(changes),
    save,
    set: (part: Partial<FormDraft>) => setUnsaved((before) => ({ ...before, ...part })),
    discard() {
      setUnsaved({})
      save.reset()
    },
  }
}

/** Opens the first page with an error, and focuses the error, once for each attempt to save. */
function useShowErrors(current: PageId, errors: Record<string, string>, attempt: Error | null) {
  const navigate = useNavigate({ from: '/$workspaceId/forms/$formKey' })
  const form = useRef<HTMLFormElement>(null)
  const shown = useRef<Error | null>(null)
  useEffect(() => {
    if (attempt === null || shown.current === attempt) return
    const [page, ...others] = listPagesOf(Object.keys(errors))
    if (page !== undefined && page !== current && !others.includes(current)) {
      void navigate({ search: { tab: 'settings', page }, replace: true, resetScroll: false })
      return
    }
    shown.current = attempt
    const first = form.current?.querySelector<HTMLElement>(FIRST_ERROR)
    first?.scrollIntoView({ block: 'center' })
    first?.focus({ preventScroll: true })
  }, [attempt, current, errors, navigate])
  return form
}

const PAGE_CONTENTS: Record<PageId, (props: GroupProps) => ReactNode> = {
  notifications: NotificationsGroup,
  fields: (props) => (
    <>
      <FieldsGroup {...props} />
      <LabelsGroup {...props} />
      <MessagesGroup {...props} />
    </>
  ),
  sending: SendingGroup,
  spam: (props) => (
    <>
      <ProtectionGroup {...props} />
      <FilterGroup {...props} />
    </>
  ),
  files: FilesGroup,
  email: ReplyGroup,
  brand: BrandGroup,
  privacy: (props) => (
    <>
      <ConsentGroup {...props} />
      <RetentionGroup {...props} />
    </>
  ),
  general: BasicsGroup,
}

export default function FormSettingsTab({ form }: { form: FormResource }) {
  const canEdit = useCanEdit()
  const params = useParams({ from: '/$workspaceId/forms/$formKey' })
  const { page = '' } = useSearch({ from: '/$workspaceId/forms/$formKey' })
  const current = findSettingsPage(page || location.hash.slice(1))
  const { draft, changed, save, set, discard } = useFormDraft(form)
  const errors = toFieldErrors(save.error, SHOWN_SETTINGS)
  const settings = useShowErrors(current, errors, save.error)
  const Content = PAGE_CONTENTS[current]
  return (
    <div className={SIDE_NAV_GRID}>
      <SettingsPageLinks params={params} current={current} errors={errors} changed={changed} />
      <Form
        ref={settings}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-5"
        onSubmit={() => {
          if (changed.length > 0 && !save.isPending) save.mutate()
        }}
      >
        {errors.general && <FormError>{errors.general}</FormError>}
        <fieldset disabled={!canEdit} className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-5">
          <legend className="sr-only">Settings</legend>
          <Content key={current} form={form} draft={draft} set={set} errors={errors} />
        </fieldset>
        {canEdit && (
          <SaveBar
            isChanged={changed.length > 0}
            busy={save.isPending}
            hasErrors={Object.keys(errors).length > 0}
            discard={discard}
          />
        )}
        {canEdit && current === 'general' && <DangerZone form={form} />}
      </Form>
    </div>
  )
}

/** Deletes a form and its submissions, after its name was typed. */
function DangerZone({ form }: { form: FormResource }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isConfirming, setConfirming] = useState(false)
  async function remove() {
    await deleteForm(api, form.formKey)
    await navigate({
      to: '/$workspaceId/forms',
      params: { workspaceId: String(api.workspaceId) },
      search: {},
      // Unsaved changes are gone with the form.
      ignoreBlocker: true,
    })
    client.removeQueries({ queryKey: formQuery(api, form.formKey).queryKey })
    void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
    void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
    toast(`${form.name} deleted`)
  }
  return (
    <section className="rounded-2xl border border-danger bg-card p-4 sm:p-5">
      <h2 className="font-semibold">Delete this form</h2>
      <p className="mt-1 mb-4 text-soft">
        Deletes the form and {formatCount(form.submissions, 'submission')} permanently. Pages that still post
        to it get “Form not found”. To keep the submissions, turn off “Accept submissions” instead.
      </p>
      <Button variant="danger" icon={<Trash2 size={16} />} onClick={() => setConfirming(true)}>
        Delete form
      </Button>
      {isConfirming && (
        <ConfirmDialog
          onClose={() => setConfirming(false)}
          title={`Delete ${form.name}?`}
          action="Delete permanently"
          mustType={form.name}
          onConfirm={remove}
        >
          <p>
            This deletes {formatCount(form.submissions, 'submission')} and their attribution. You can’t undo
            this.
          </p>
        </ConfirmDialog>
      )}
    </section>
  )
}
