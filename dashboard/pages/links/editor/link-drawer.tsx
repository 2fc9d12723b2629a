// The drawer that creates, duplicates and edits a link.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { CreateLinkInput, LinkResource } from '../../../../server/features/links/schema.ts'
import { toFieldErrors } from '../../../api/client.ts'
import {
  createLink,
  findLoadedLink,
  invalidateLinks,
  linkQuery,
  updateLink,
  updateLoadedLinks,
} from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { toLinkName } from '../link/link-name.ts'
import { copyLink } from '../link/use-link-actions.ts'
import {
  isChanged,
  LINK_DEFAULTS,
  type LinkDraft,
  toDraft,
  toDuplicateDraft,
  toNewDraft,
  toRequestBody,
  validateDraft,
} from './link-draft.ts'
import { LinkForm } from './link-form.tsx'

interface Props {
  /** null for a new link. */
  id: number | null
  /** Creates a new link with the settings of this one. */
  copy?: boolean
  /** The destination of a new link, where it is already known. */
  destinationUrl?: string
  onClose: () => void
}

export function LinkDrawer({ id, copy = false, destinationUrl = '', onClose }: Props) {
  const api = useApi()
  const client = useQueryClient()
  const { data: link, error } = useQuery({
    ...linkQuery(api, id ?? 0),
    enabled: id !== null,
    initialData: () => (id === null ? undefined : findLoadedLink(client, api, id)),
    initialDataUpdatedAt: 0,
  })
  if (id === null) return <Editor start={toNewDraft(destinationUrl)} onClose={onClose} />
  if (link && copy) return <Editor start={toDuplicateDraft(link)} onClose={onClose} />
  if (link) return <Editor link={link} start={toDraft(link)} onClose={onClose} />
  return (
    <Dialog drawer open onClose={onClose} title={copy ? 'New link' : 'Edit link'}>
      {error ? <ErrorState error={error} /> : <SkeletonRows rows={6} className="h-12" />}
    </Dialog>
  )
}

const FORM = 'link-form'

interface EditorProps {
  link?: LinkResource
  start: LinkDraft
  onClose: () => void
}

function useEditor({ link, start, onClose }: EditorProps) {
  const [initial] = useState(start)
  const [draft, setDraft] = useState(initial)
  const saved = useRef(false)
  const dirty = isChanged(initial, draft)
  const leaveDialog = useLeaveDialog(() => dirty && !saved.current)
  const save = useSave(link, () => {
    saved.current = true
    onClose()
  })
  const [draftErrors, setDraftErrors] = useState<Record<string, string>>({})
  // Hide a field's error once the user edits the field.
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const errors = Object.fromEntries(
    Object.entries({ ...toLinkErrors(save.error), ...draftErrors }).filter(([field]) => !touched.has(field)),
  )
  const form = useFocusInvalidField(save.error, draftErrors)
  const submit = () => {
    if (save.isPending) return
    if (link && !dirty) return onClose()
    const invalid = validateDraft(draft)
    setDraftErrors(invalid)
    setTouched(new Set())
    if (Object.keys(invalid).length === 0) save.mutate(toRequestBody(link ? initial : LINK_DEFAULTS, draft))
  }
  const change = (changes: Partial<LinkDraft>) => {
    setDraft((current) => ({ ...current, ...changes }))
    setTouched((fields) => new Set([...fields, ...Object.keys(changes)]))
  }
  return { draft, errors, form, change, submit, isSaving: save.isPending, leaveDialog }
}

/** After a failed save, focuses the first invalid field. Its section has opened by then. */
function useFocusInvalidField(saveError: Error | null, draftErrors: Record<string, string>) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (saveError || Object.keys(draftErrors).length > 0)
      form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [saveError, draftErrors])
  return form
}

function Editor(props: EditorProps) {
  const { link, onClose } = props
  const { draft, errors, form, change, submit, isSaving, leaveDialog } = useEditor(props)
  return (
    <Dialog
      drawer
      open
      onClose={onClose}
      title={link ? 'Edit link' : 'New link'}
      description={link && <span className="block truncate">{toLinkName(link)}</span>}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={FORM} variant="primary" busy={isSaving}>
            {link ? 'Save changes' : 'Create link'}
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
        }}
      >
        <LinkForm draft={draft} link={link} errors={errors} onChange={change} />
      </form>
      {leaveDialog}
    </Dialog>
  )
}

function useSave(link: LinkResource | undefined, onSaved: () => void) {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (changes: Partial<CreateLinkInput>) =>
      link ? updateLink(api, link.id, changes) : createLink(api, { destinationUrl: '', ...changes }),
    onSuccess(saved) {
      client.setQueryData(linkQuery(api, saved.id).queryKey, saved)
      if (link) updateLoadedLinks(client, api, new Map([[saved.id, saved]]))
      void invalidateLinks(client, api, { fromStart: !link })
      toast(link ? 'Link saved' : `${saved.domain}/${saved.slug} is live`, {
        action: link ? undefined : { label: 'Copy', run: () => void copyLink(saved) },
        forMs: link && 2000,
      })
      onSaved()
    },
    onError() {},
  })
}

/** Asks before a click beside the drawer, the back button or a closed tab discards changes. */
function useLeaveDialog(isDirty: () => boolean) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isDirty,
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      open={status === 'blocked'}
      onClose={() => reset?.()}
      title="Discard changes?"
      action="Discard"
      cancel="Keep editing"
      onConfirm={async () => proceed?.()}
    >
      <p>This link has unsaved changes.</p>
    </ConfirmDialog>
  )
}

const CONFLICTS: Record<string, string> = {
  'Slug already in use': 'slug',
  'Slug is reserved': 'slug',
  'External id already in use': 'externalId',
}

/** The server's errors by field. A conflict comes without a field: its message tells which field it is about. */
function toLinkErrors(error: Error | null): Record<string, string> {
  const { general, ...errors } = toFieldErrors(error)
  return general === undefined ? errors : { [CONFLICTS[general] ?? 'general']: general }
}
