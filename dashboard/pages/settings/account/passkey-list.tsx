// The person's passkeys: add, rename and remove.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { toFieldErrors } from '../../../api/client.ts'
import { canUsePasskeys } from '../../../api/passkey.ts'
import {
  addPasskey,
  factorsQuery,
  type Passkey,
  removePasskey,
  renamePasskey,
} from '../../../api/second-factor.ts'
import { userQuery } from '../../../api/session.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatDay } from '../../../ui/format.ts'
import { formatExample, TextField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'

export function PasskeyList({
  passkeys,
  onAdded,
}: {
  passkeys: Passkey[]
  onAdded: (recoveryCodes: string[] | null) => Promise<void>
}) {
  const [isAdding, setAdding] = useState(false)
  const add = async (name: string) => {
    const { recoveryCodes } = await addPasskey(name)
    toast('Passkey added')
    setAdding(false)
    await onAdded(recoveryCodes)
  }
  return (
    <div className="py-4 last:pb-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <h3 className="font-medium">Passkeys</h3>
          <p className="text-sm text-soft">
            {canUsePasskeys()
              ? 'Your fingerprint, your face, a PIN or a security key.'
              : 'Browsers offer passkeys only on https pages.'}
          </p>
        </div>
        {canUsePasskeys() && (
          <Button size="small" onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        )}
      </div>
      {passkeys.length > 0 && (
        <ul className="mt-3 divide-y divide-line rounded-lg border border-line">
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      {isAdding && (
        <NameDialog
          title="Add a passkey"
          description="Name it after this device. Your browser asks for the rest."
          action="Continue"
          onName={add}
          onClose={() => setAdding(false)}
        />
      )}
    </div>
  )
}

function PasskeyRow({ passkey: { id, name, createdAt, lastUsedAt } }: { passkey: Passkey }) {
  const client = useQueryClient()
  const [dialog, setDialog] = useState<'rename' | 'remove'>()
  const close = () => setDialog(undefined)
  const refresh = () => client.invalidateQueries({ queryKey: factorsQuery.queryKey })
  async function rename(newName: string) {
    await renamePasskey({ id, name: newName })
    close()
    await refresh()
  }
  async function remove() {
    await removePasskey(id)
    toast('Passkey removed')
    await client.invalidateQueries({ queryKey: userQuery.queryKey })
    await refresh()
  }
  return (
    <li className="flex items-center gap-1 py-2 pr-2 pl-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{name}</p>
        <p className="text-sm text-soft">
          Added {formatDay(createdAt)},{' '}
          {lastUsedAt ? (
            <>
              used <RelativeTime at={lastUsedAt} />
            </>
          ) : (
            'never used'
          )}
        </p>
      </div>
      <IconButton label={`Rename ${name}`} onClick={() => setDialog('rename')}>
        <Pencil size={16} />
      </IconButton>
      <IconButton label={`Remove ${name}`} onClick={() => setDialog('remove')}>
        <Trash2 size={16} />
      </IconButton>
      {dialog === 'rename' && (
        <NameDialog title="Rename the passkey" action="Save" name={name} onName={rename} onClose={close} />
      )}
      <ConfirmDialog
        open={dialog === 'remove'}
        onClose={close}
        title={`Remove ${name}?`}
        action="Remove passkey"
        onConfirm={remove}
      >
        <p>It can’t be used to sign in anymore. Delete it from your device too.</p>
      </ConfirmDialog>
    </li>
  )
}

function NameDialog({
  title,
  description,
  action,
  name,
  onName,
  onClose,
}: {
  title: string
  description?: string
  action: string
  name?: string
  onName: (name: string) => Promise<void>
  onClose: () => void
}) {
  const save = useMutation({ mutationFn: onName, onError() {} })
  const errors = toFieldErrors(save.error)
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      description={description}
      action={action}
      busy={save.isPending}
      error={errors.name ? undefined : save.error?.message}
      onSubmit={(fields) => save.mutate(String(fields.get('name')))}
    >
      <TextField
        label="Name"
        name="name"
        required
        autoFocus
        maxLength={100}
        autoComplete="off"
        defaultValue={name}
        placeholder={formatExample('My laptop')}
        error={errors.name}
      />
    </FormDialog>
  )
}
