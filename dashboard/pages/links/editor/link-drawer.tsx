// Making and changing a link, at the side of the page one is on.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { CreateLinkInput, LinkResource } from '../../../../server/features/links/schema.ts'
import { ApiError } from '../../../api/client.ts'
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
import { ConfirmDialog, Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { ErrorState, SkeletonRows } from '../../../ui/states.tsx'
import { toLinkName } from '../link/link-state.tsx'
import { copyLink } from '../link/use-link-actions.ts'
import {
  isChanged,
  type LinkDraft,
  toDraft,
  toDuplicateDraft,
  toRequestBody,
  validateDraft,
} from './link-draft.ts'
import { LinkForm } from './link-form.tsx'

interface Props {
  /** null makes a new link. */
  id: number | null
  /** Makes another one like it. */
  copy?: boolean
  onClose: () => void
}

export function LinkDrawer({ id, copy = false, onClose }: Props) {
  const api = useApi()
  const client = useQueryClient()
  const { data: link, error } = useQuery({
    ...linkQuery(api, id ?? 0),
    enabled: id !== null,
    initialData: () => (id === null ? undefined : findLoadedLink(client, api, id)),
    initialDataUpdatedAt: 0,
  })
  if (id === null) return <Editor start={toDraft(undefined)} onClose={onClose} />
  if (link && copy) return <Editor start={toDuplicateDraft(link)} onClose={onClose} />
  if (link) return <Editor link={link} start={toDraft(link)} onClose={onClose} />
  return (
    <Dialog drawer open onClose={onClose} title={copy ? 'New link' : 'Edit link'}>
      {error ? <ErrorState error={error} /> : <SkeletonRows rows={6} className="h-12" />}
    </Dialog>
  )
}

const FORM = 'link-form'

function Editor({ link, start, onClose }: { link?: LinkResource; start: LinkDraft; onClose: () => void }) {
  const [before] = useState(start)
  const empty = useRef(toDraft(undefined)).current
  const [draft, setDraft] = useState(before)
  const done = useRef(false)
  const form = useRef<HTMLFormElement>(null)
  const dirty = isChanged(before, draft)
  const guard = useLeaveGuard(() => dirty && !done.current)
  const save = useSave(link, () => {
    done.current = true
    onClose()
  })
  const [mistakes, setMistakes] = useState<Record<string, string>>({})
  // Of what was refused nothing is said any more once it is another text.
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const errors = Object.fromEntries(
    Object.entries({ ...toFieldErrors(save.error), ...mistakes }).filter(([field]) => !touched.has(field)),
  )
  useEffect(() => {
    // The first mistake; a section that was closed has opened by now.
    if (save.error || Object.keys(mistakes).length > 0)
      form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [save.error, mistakes])
  const submit = () => {
    if (save.isPending) return
    if (link && !dirty) return onClose()
    const found = validateDraft(draft)
    setMistakes(found)
    setTouched(new Set())
    if (Object.keys(found).length === 0) save.mutate(toRequestBody(link ? before : empty, draft))
  }
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
          <Button type="submit" form={FORM} look="primary" busy={save.isPending}>
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
        <LinkForm
          draft={draft}
          link={link}
          errors={errors}
          onChange={(change) => {
            setDraft((now) => ({ ...now, ...change }))
            setTouched((now) => new Set([...now, ...Object.keys(change)]))
          }}
        />
      </form>
      {guard}
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

/** What is typed is not thrown away by a click beside the drawer, the back button or a closed tab. */
function useLeaveGuard(isDirty: () => boolean) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isDirty,
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      open={status === 'blocked'}
      onClose={() => reset?.()}
      title="Throw away what you typed?"
      action="Throw away"
      onConfirm={async () => proceed?.()}
    >
      <p>This link has changes that are not saved.</p>
    </ConfirmDialog>
  )
}

const CONFLICTS: Record<string, string> = {
  'Slug already in use': 'slug',
  'Slug is reserved': 'slug',
  'External id already in use': 'externalId',
}

/** By field; what belongs to none under ''. */
function toFieldErrors(error: Error | null): Record<string, string> {
  if (!error) return {}
  const errors =
    error instanceof ApiError && Object.keys(error.errors).length > 0
      ? error.errors
      : { [CONFLICTS[error.message] ?? '']: error.message }
  return Object.fromEntries(
    Object.entries(errors).map(([field, text]) => [field, text.charAt(0).toUpperCase() + text.slice(1)]),
  )
}
