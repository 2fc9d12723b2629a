// Two-factor sign-in: the authenticator app, the passkeys and the recovery codes.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { type Factors, factorsQuery, removeApp, renewRecoveryCodes } from '../../../api/second-factor.ts'
import { userQuery } from '../../../api/session.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { QueryState } from '../../../ui/query-state.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import { AuthenticatorAppDialog } from './authenticator-app-dialog.tsx'
import { PasskeyList } from './passkey-list.tsx'

/** Below this number, a person should make new codes. */
const FEW_CODES = 3

/** @param onDone is called when a factor was added, and new recovery codes are saved */
export function TwoFactorSettings({ onDone }: { onDone?: () => void }) {
  const client = useQueryClient()
  const factors = useQuery(factorsQuery)
  const [codes, setCodes] = useState<string[]>()
  /** @param recoveryCodes are shown once, with the first factor */
  async function handleAdded(recoveryCodes: string[] | null) {
    setCodes(recoveryCodes ?? undefined)
    await client.invalidateQueries({ queryKey: userQuery.queryKey })
    await client.invalidateQueries({ queryKey: factorsQuery.queryKey })
    if (!recoveryCodes) onDone?.()
  }
  function closeCodes() {
    setCodes(undefined)
    onDone?.()
  }
  return (
    <Card title="Two-factor sign-in">
      <p className="mb-4 text-soft">
        A second factor protects your account even if someone knows your password. Passkeys also sign you in
        without a password.
      </p>
      <QueryState query={factors} rows={3} className="h-12" />
      {factors.data && (
        <div className="divide-y divide-line">
          <AuthenticatorApp isOn={factors.data.authenticatorApp} onAdded={handleAdded} />
          <PasskeyList passkeys={factors.data.passkeys} onAdded={handleAdded} />
          <RecoveryCodes factors={factors.data} onCreated={setCodes} />
        </div>
      )}
      {codes && <RecoveryCodesDialog codes={codes} onClose={closeCodes} />}
    </Card>
  )
}

/** Shows new recovery codes, once: to copy, or to save as a file. */
function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const text = codes.join('\n')
  const download = () =>
    saveFile({
      file: new Blob([`Recovery codes for ${location.host}. Each one works once.\n\n${text}\n`], {
        type: 'text/plain',
      }),
      name: 'towpath-recovery-codes.txt',
    })
  return (
    <Dialog
      onClose={onClose}
      title="Save your recovery codes"
      description="They aren’t shown again. Each one signs you in once, when you have lost your second factor."
      done="I saved them"
    >
      <ul className="grid gap-x-6 gap-y-1.5 rounded-lg border border-line bg-sunken p-4 min-[360px]:grid-cols-2">
        {codes.map((code) => (
          <li key={code} className="text-center">
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex flex-wrap gap-2">
        <CopyButton text={text} label="Copy codes">
          Copy
        </CopyButton>
        <Button size="small" icon={<Download size={15} />} onClick={download}>
          Download
        </Button>
      </div>
    </Dialog>
  )
}

function AuthenticatorApp({
  isOn,
  onAdded,
}: {
  isOn: boolean
  onAdded: (recoveryCodes: string[] | null) => Promise<void>
}) {
  const client = useQueryClient()
  const [dialog, setDialog] = useState<'add' | 'remove'>()
  const close = () => setDialog(undefined)
  async function remove() {
    await removeApp()
    toast('Authenticator app removed')
    await client.invalidateQueries({ queryKey: userQuery.queryKey })
    await client.invalidateQueries({ queryKey: factorsQuery.queryKey })
  }
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 py-4 first:pt-0">
      <div className="min-w-0 flex-1 basis-56">
        <h3 className="font-medium">
          Authenticator app {isOn ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}
        </h3>
        <p className="text-sm text-soft">An app on your phone shows a new code every 30 seconds.</p>
      </div>
      {isOn ? (
        <Button size="small" onClick={() => setDialog('remove')}>
          Remove app
        </Button>
      ) : (
        <Button size="small" variant="primary" onClick={() => setDialog('add')}>
          Set up app
        </Button>
      )}
      {dialog === 'add' && (
        <AuthenticatorAppDialog
          onClose={close}
          onAdded={async (recoveryCodes) => {
            close()
            await onAdded(recoveryCodes)
          }}
        />
      )}
      <ConfirmDialog
        open={dialog === 'remove'}
        onClose={close}
        title="Remove the authenticator app?"
        action="Remove app"
        onConfirm={remove}
      >
        <p>Its codes stop working. Without another second factor, your password alone signs you in.</p>
      </ConfirmDialog>
    </div>
  )
}

function RecoveryCodes({
  factors: { authenticatorApp, passkeys, recoveryCodes },
  onCreated,
}: {
  factors: Factors
  onCreated: (codes: string[]) => void
}) {
  const client = useQueryClient()
  const renew = useMutation({
    mutationFn: renewRecoveryCodes,
    onSuccess({ recoveryCodes: codes }) {
      onCreated(codes)
      return client.invalidateQueries({ queryKey: factorsQuery.queryKey })
    },
  })
  if (!authenticatorApp && passkeys.length === 0) return null
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 py-4 last:pb-0">
      <div className="min-w-0 flex-1 basis-56">
        <h3 className="font-medium">
          Recovery codes{' '}
          <Badge tone={recoveryCodes < FEW_CODES ? 'warn' : 'neutral'}>{recoveryCodes} left</Badge>
        </h3>
        <p className="text-sm text-soft">Each one signs you in once, when you have lost everything else.</p>
      </div>
      <Button size="small" busy={renew.isPending} onClick={() => renew.mutate()}>
        Create new codes
      </Button>
    </div>
  )
}
