// The drawer that creates, duplicates and edits a link.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { CreateLinkInput, LinkResource } from '../../../../server/features/links/schema.ts'
import { ApiError, toFieldErrors } from '../../../api/client.ts'
import { invalidateDomains } from '../../../api/domains.ts'
import { translateError } from '../../../api/error-texts.ts'
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
import { Form } from '../../../ui/forms/form.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { LeaveDialog } from '../../../ui/overlays/leave-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { LINK_DEVICES } from '../link/link-devices.ts'
import { toLinkName } from '../link/link-name.ts'
import { copyLink } from '../link/use-link-actions.ts'
import { useLinkDomains } from '../link/use-link-domains.ts'
import {
  isChanged,
  LINK_DEFAULTS,
  type LinkDraft,
  type NewLink,
  toDraft,
  toDuplicateDraft,
  toNewDraft,
  toRequestBody,
  validateDraft,
} from './link-draft.ts'
import { LinkForm } from './link-form.tsx'

const ConflictNotice = lazyPart(() => import('./conflict-notice.tsx'), 'ConflictNotice')

interface Props {
  /** null for a new link. */
  id: number | null
  /** Creates a new link with the settings of this one. */
  copy?: boolean
  /** Fills in a new link. */
  start?: NewLink
  onClose: () => void
}

export function LinkDrawer({ id, copy = false, start = {}, onClose }: Props) {
  const api = useApi()
  const client = useQueryClient()
  const { data: link, error } = useQuery({
    ...linkQuery(api, id ?? 0),
    enabled: id !== null,
    initialData: () => (id === null ? undefined : findLoadedLink(client, api, id)),
    initialDataUpdatedAt: 0,
  })
  if (id === null) return <Editor start={toNewDraft(start)} onClose={onClose} />
  if (link && copy) return <Editor start={toDuplicateDraft(link)} onClose={onClose} />
  if (link) return <Editor link={link} start={toDraft(link)} onClose={onClose} />
  return (
    <Dialog drawer onClose={onClose} title={copy ? 'New link' : 'Edit link'}>
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

/** The values at the start of the edit: the request body is the difference to them. */
interface EditBase {
  draft: LinkDraft
  link: LinkResource | undefined
}

function useEditor({ link, start, onClose }: EditorProps) {
  const [base, setBase] = useState<EditBase>({ draft: start, link })
  const [draft, setDraft] = useState(start)
  const saved = useRef(false)
  const dirty = isChanged(base.draft, draft)
  const save = useSave(link?.id, () => {
    saved.current = true
    onClose()
  })
  const { domains, primary } = useLinkDomains()
  const { errors, setDraftErrors, touch, form } = useEditorErrors(draft, save.error)
  // The link as another person has saved it since.
  const theirs = link && link.updatedAt !== base.link?.updatedAt && !saved.current ? link : undefined
  const takeTheirs = () => {
    setBase({ draft: start, link })
    setDraft(start)
    save.reset()
  }
  // Nothing is typed yet, so the form takes over the changes.
  useEffect(() => {
    if (theirs && !dirty) takeTheirs()
  })
  const submit = (seen = base.link) => {
    if (save.isPending) return
    if (link && !dirty) return onClose()
    const invalid = validateDraft(draft)
    setDraftErrors(invalid)
    if (Object.keys(invalid).length > 0) return
    const changes = toRequestBody(seen ? base.draft : LINK_DEFAULTS, draft)
    // A new link is made where the form has shown it, also when another domain has become the primary one since.
    const shown = domains.length > 1 ? { domain: draft.domain || primary.name } : {}
    save.mutate({ seen, changes: seen ? changes : { ...shown, ...changes } })
  }
  const change = (changes: Partial<LinkDraft>) => {
    setDraft((current) => ({ ...current, ...changes }))
    touch(Object.keys(changes))
  }
  const conflict = dirty && base.link && theirs && { before: base.link, theirs, mine: draft }
  const answers = { takeTheirs, keepMine: () => submit(theirs), isRefused: isOutdated(save.error) }
  const mayLose = () => dirty && !saved.current
  return { draft, errors, form, change, submit, isSaving: save.isPending, mayLose, conflict, answers }
}

const isOutdated = (error: Error | null) => error instanceof ApiError && error.status === 412

function useEditorErrors(draft: LinkDraft, saveError: Error | null) {
  const [draftErrors, setErrors] = useState<Record<string, string>>({})
  // Hide a field's error once the user edits the field, or any item of a list: items move.
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const all = { ...toLinkErrors(saveError, draft), ...draftErrors }
  return {
    errors: Object.fromEntries(
      Object.entries(all).filter(([field]) => !touched.has(field.replace(/\..*/, ''))),
    ),
    form: useFocusInvalidField(saveError, draftErrors),
    touch: (fields: string[]) => setTouched((before) => new Set([...before, ...fields])),
    setDraftErrors(errors: Record<string, string>) {
      setErrors(errors)
      setTouched(new Set())
    },
  }
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
  const { draft, errors, form, change, submit, isSaving, mayLose, conflict, answers } = useEditor(props)
  return (
    <Dialog
      drawer
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
      <Form
        id={FORM}
        ref={form}
        noValidate
        onSubmit={() => submit()}
        onKeyDown={(event) => {
          // Keys in a dialog of this form, such as that of a UTM template, come here too.
          const isInside = event.target instanceof Node && event.currentTarget.contains(event.target)
          if (isInside && event.key === 'Enter' && (event.metaKey || event.ctrlKey))
            event.currentTarget.requestSubmit()
        }}
      >
        {conflict && <ConflictNotice {...conflict} {...answers} isSaving={isSaving} />}
        <LinkForm draft={draft} link={link} errors={errors} onChange={change} />
      </Form>
      <LeaveDialog isBlocked={mayLose} title="Discard changes?" action="Discard" cancel="Keep editing">
        <p>This link has unsaved changes.</p>
      </LeaveDialog>
    </Dialog>
  )
}

interface Save {
  /** The link as the person has seen it; undefined for a new link. */
  seen: LinkResource | undefined
  changes: Partial<CreateLinkInput>
}

function useSave(id: number | undefined, onSaved: () => void) {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ seen, changes }: Save) =>
      seen ? updateLink(api, seen, changes) : createLink(api, { destinationUrl: '', ...changes }),
    onSuccess(saved) {
      client.setQueryData(linkQuery(api, saved.id).queryKey, saved)
      if (id) updateLoadedLinks(client, api, new Map([[saved.id, saved]]))
      void invalidateLinks(client, api, { fromStart: !id })
      void invalidateDomains(client, api)
      toast(id ? 'Link saved' : `${saved.domain}/${saved.slug} is live`, {
        action: id ? undefined : { label: 'Copy', run: () => void copyLink(saved) },
        forMs: id && 2000,
      })
      onSaved()
    },
    onError(error) {
      // The form shows the other person's changes.
      if (id && isOutdated(error)) void client.invalidateQueries({ queryKey: linkQuery(api, id).queryKey })
    },
  })
}

const CONFLICTS: Record<string, string> = {
  'Slug already in use': 'slug',
  'Slug is reserved': 'slug',
  'External id already in use': 'externalId',
}

/** The fields of the form. A country has one while it has a row. */
const toShownFields = ({ countries }: LinkDraft) => [
  ...Object.keys(LINK_DEFAULTS).filter((name) => name !== 'utm'),
  'tagIds',
  'tagNames',
  ...LINK_DEVICES.map(({ name }) => `deviceTargeting.${name}`),
  ...countries.map(({ code }) => `geoTargeting.${code}`),
]

/** The server's errors by field. A conflict comes without a field: its message tells which field it is about. */
function toLinkErrors(error: Error | null, draft: LinkDraft): Record<string, string> {
  if (isOutdated(error)) return {}
  const { general, ...errors } = toFieldErrors(error, toShownFields(draft))
  if (general === undefined) return errors
  const [, field = 'general'] =
    Object.entries(CONFLICTS).find(([message]) => translateError(message) === general) ?? []
  return { ...errors, [field]: general }
}
