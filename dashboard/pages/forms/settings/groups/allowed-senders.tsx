// Allowed senders: their submissions are never spam. The list belongs to the workspace and is saved at once, apart
// from the form.

import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { toFieldErrors } from '../../../../api/client.ts'
import {
  type AllowedSenderResource,
  allowedSendersQuery,
  allowSender,
  disallowSender,
} from '../../../../api/inbox/allowed-senders.ts'
import { useApi } from '../../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { focusNext } from '../../../../ui/focus.ts'
import { CODE_INPUT } from '../../../../ui/forms/control-class.ts'
import { Field, formatExample, Input } from '../../../../ui/forms/field.tsx'
import { toastError } from '../../../../ui/overlays/toast.tsx'
import { ShowMore } from '../../../../ui/show-more.tsx'

const INPUT = '[data-allow-sender]'

export function AllowedSenders() {
  const api = useApi()
  const client = useQueryClient()
  const senders = useInfiniteQuery(allowedSendersQuery(api))
  const rows = senders.data?.pages.flatMap(({ data }) => data) ?? []
  const loadAgain = () => client.invalidateQueries({ queryKey: [api.workspaceId, 'allowed senders'] })
  return (
    <section
      aria-label="Allowed senders"
      className="grid grid-cols-[minmax(0,1fr)] gap-2 border-t border-line pt-5"
    >
      <AddSender onAdded={loadAgain} />
      {rows.length > 0 && (
        <ul
          aria-label="Senders that are always allowed"
          className="flex max-h-48 flex-wrap gap-1.5 overflow-y-auto"
        >
          {rows.map((sender) => (
            <SenderChip key={sender.id} sender={sender} onRemoved={loadAgain} />
          ))}
        </ul>
      )}
      <ShowMore query={senders} size="small" />
    </section>
  )
}

function AddSender({ onAdded }: { onAdded: () => Promise<void> }) {
  const api = useApi()
  const [address, setAddress] = useState('')
  const allow = useMutation({
    mutationFn: () => allowSender(api, address.trim()),
    onSuccess() {
      setAddress('')
      return onAdded()
    },
    onError() {},
  })
  const errors = toFieldErrors(allow.error)
  const add = () => {
    if (address.trim() !== '' && !allow.isPending) allow.mutate()
  }
  return (
    <Field
      label="Always allow"
      hint="Submissions from these addresses are never spam, in all forms of this workspace: ada@example.com, or *@example.com. Changes apply at once."
      error={errors.address ?? errors.general}
    >
      {(control) => (
        <span className="flex max-w-md gap-2">
          <Input
            {...control}
            data-allow-sender
            type="text"
            inputMode="email"
            maxLength={254}
            {...CODE_INPUT}
            placeholder={formatExample('ada@example.com')}
            value={address}
            onChange={(event) => {
              setAddress(event.target.value)
              allow.reset()
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              // Enter would save the form.
              event.preventDefault()
              add()
            }}
          />
          <Button
            icon={<Plus size={16} />}
            aria-label="Add the sender"
            disabled={address.trim() === ''}
            busy={allow.isPending}
            onClick={add}
          >
            Add
          </Button>
        </span>
      )}
    </Field>
  )
}

function SenderChip({
  sender,
  onRemoved,
}: {
  sender: AllowedSenderResource
  onRemoved: () => Promise<void>
}) {
  const api = useApi()
  const remove = useMutation({
    mutationFn: () => disallowSender(api, sender.id),
    async onSuccess() {
      await onRemoved()
      focusNext(INPUT)
    },
    onError: (error) => toastError(error, `Couldn’t remove ${sender.address}`),
  })
  return (
    <li className="inline-flex max-w-full items-center rounded-md bg-sunken py-0.5 pl-2 text-sm">
      <span className="truncate">{sender.address}</span>
      <IconButton
        label={`No longer always allow ${sender.address}`}
        className="size-6"
        aria-busy={remove.isPending || undefined}
        onClick={() => !remove.isPending && remove.mutate()}
      >
        <X size={13} />
      </IconButton>
    </li>
  )
}
