// The settings of a form. Unsaved changes survive a switch to another tab.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import type { FormResource } from '../../../../server/features/forms/schema.ts'
import { toFieldErrors } from '../../../api/client.ts'
import { deleteForm, formQuery, updateForm } from '../../../api/forms.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { FormError, findFieldError } from '../../../ui/forms/form-error.tsx'
import { SaveBar } from '../../../ui/forms/save-bar.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { SIDE_NAV_GRID } from '../../../ui/page.tsx'
import { type FormDraft, findChanges, type GroupProps, SHOWN_SETTINGS } from './form-draft.ts'
import { BasicsGroup } from './groups/basics-group.tsx'
import { BrandGroup } from './groups/brand-group.tsx'
import { ChannelChoice } from './groups/channel-choice.tsx'
import { ConsentGroup } from './groups/consent-group.tsx'
import { FieldsGroup } from './groups/fields-group.tsx'
import { FilesGroup } from './groups/files-group.tsx'
import { MessagesGroup } from './groups/messages-group.tsx'
import { ReplyGroup } from './groups/reply-group.tsx'
import { RetentionGroup } from './groups/retention-group.tsx'
import { SendingGroup } from './groups/sending-group.tsx'
import { SpamGroup } from './groups/spam-group.tsx'
import { GroupLinks, SettingsGroup } from './settings-group.tsx'

/** Unsaved changes by form key, until the page is reloaded. */
const unsavedChanges = new Map<string, Partial<FormDraft>>()

/** The first invalid control, or the first message about a whole group. */
const FIRST_ERROR = '[aria-invalid=true], [role=alert]'

function useFormDraft(form: FormResource) {
  const api = useApi()
  const client = useQueryClient()
  const [changed, setChanged] = useState<Partial<FormDraft>>(() => unsavedChanges.get(form.formKey) ?? {})
  const setUnsaved = (next: Partial<FormDraft>) => {
    unsavedChanges.set(form.formKey, next)
    setChanged(next)
  }
  const draft: FormDraft = { ...form, ...changed }
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
    isChanged: Object.keys(changes).length > 0,
    save,
    set: (part: Partial<FormDraft>) => setUnsaved({ ...changed, ...part }),
    discard() {
      setUnsaved({})
      save.reset()
    },
  }
}

export default function FormSettingsTab({ form }: { form: FormResource }) {
  const canEdit = useCanEdit()
  const { draft, isChanged, save, set, discard } = useFormDraft(form)
  const errors = toFieldErrors(save.error, SHOWN_SETTINGS)
  const props: GroupProps = { form, draft, set, errors }
  const settings = useRef<HTMLFormElement>(null)
  useShowLinkedGroup(settings)
  useEffect(() => {
    const first = save.error && settings.current?.querySelector<HTMLElement>(FIRST_ERROR)
    first?.scrollIntoView({ block: 'center' })
    first?.focus({ preventScroll: true })
  }, [save.error])
  return (
    <div className={SIDE_NAV_GRID}>
      <GroupLinks errors={errors} />
      <form
        ref={settings}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          if (isChanged) save.mutate()
        }}
      >
        {errors.general && <FormError>{errors.general}</FormError>}
        <fieldset disabled={!canEdit} className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-5">
          <legend className="sr-only">Settings</legend>
          <BasicsGroup {...props} />
          <FieldsGroup {...props} />
          <MessagesGroup {...props} />
          <SendingGroup {...props} />
          <BrandGroup {...props} />
          <FilesGroup {...props} />
          <ReplyGroup {...props} />
          <SpamGroup {...props} />
          <ConsentGroup {...props} />
          <RetentionGroup {...props} />
          <SettingsGroup id="notifications">
            <ChannelChoice
              selected={draft.channelIds}
              onChange={(channelIds) => set({ channelIds })}
              error={findFieldError(errors, 'channelIds')}
            />
          </SettingsGroup>
        </fieldset>
        {canEdit && (
          <>
            <SaveBar
              isChanged={isChanged}
              busy={save.isPending}
              hasErrors={Object.keys(errors).length > 0}
              discard={discard}
            />
            <DangerZone form={form} />
          </>
        )}
      </form>
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
          open
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

/** The router scrolls to the group that the address names before the settings are loaded, which is too early. */
function useShowLinkedGroup(settings: RefObject<HTMLFormElement | null>) {
  useEffect(() => {
    const id = location.hash.slice(1)
    if (id) settings.current?.querySelector(`[id="${CSS.escape(id)}"]`)?.scrollIntoView()
  }, [settings])
}
