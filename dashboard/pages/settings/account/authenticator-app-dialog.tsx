// Sets up an authenticator app: a QR code or a typed secret, and a first code that proves that the app has it.

import { useMutation, useQuery } from '@tanstack/react-query'
import { toFieldErrors } from '../../../api/client.ts'
import { confirmApp, startApp } from '../../../api/second-factor.ts'
import { CopyableText } from '../../../ui/copy/copyable-text.tsx'
import { TextField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { QueryState } from '../../../ui/query-state.tsx'

export function AuthenticatorAppDialog({
  onClose,
  onAdded,
}: {
  onClose: () => void
  onAdded: (recoveryCodes: string[] | null) => void
}) {
  // Each opening makes a new secret, and nothing keeps it.
  const started = useQuery({
    queryKey: ['start-app'],
    queryFn: startApp,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const confirm = useMutation({
    mutationFn: confirmApp,
    onSuccess: ({ recoveryCodes }) => onAdded(recoveryCodes),
    onError() {},
  })
  const errors = toFieldErrors(confirm.error, ['code'])
  return (
    <FormDialog
      onClose={onClose}
      title="Set up an authenticator app"
      description="Any app for one-time codes works, such as Aegis, 2FAS or your password manager."
      action="Turn on"
      busy={confirm.isPending}
      disabled={!started.data}
      onSubmit={(fields) => confirm.mutate(String(fields.get('code')))}
    >
      <QueryState query={started} rows={1} className="h-64" />
      {started.data && (
        <>
          <Secret {...started.data} />
          <TextField
            label="2. Type the code that the app shows"
            name="code"
            required
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={20}
            className="max-w-56"
            error={errors.code ?? errors.general}
          />
        </>
      )}
    </FormDialog>
  )
}

const Secret = ({ uri, qrCode, secret }: { uri: string; qrCode: string; secret: string }) => (
  <>
    <p>
      1. Scan the code with the app. On this phone,{' '}
      <a href={uri} className="text-link">
        open the app
      </a>
      .
    </p>
    <img
      src={qrCode}
      alt="QR code for the authenticator app"
      width={176}
      height={176}
      className="mx-auto rounded-lg border border-line bg-white"
    />
    <div className="grid gap-1.5">
      <p className="text-sm text-soft">Or type this secret into the app:</p>
      <CopyableText text={secret.replace(/.{4}(?=.)/g, '$& ')} label="Copy secret" />
    </div>
  </>
)
