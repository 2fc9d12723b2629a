// Asks for a second factor: a code of the authenticator app, a passkey, or a recovery code. For the second step of a
// sign-in, and to confirm that it is the person.

import { useMutation } from '@tanstack/react-query'
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { toFieldErrors } from '../api/client.ts'
import { canUsePasskeys } from '../api/passkey.ts'
import { askForPasskey, type PendingSignIn, type Proof } from '../api/second-factor.ts'
import { Button } from '../ui/button.tsx'
import { CODE_INPUT } from '../ui/forms/control-class.ts'
import { TextField } from '../ui/forms/field.tsx'
import { Form } from '../ui/forms/form.tsx'
import { FormError } from '../ui/forms/form-error.tsx'

export function FactorForm({
  ways,
  action,
  onProof,
}: {
  ways: PendingSignIn
  action: string
  /** The form stays busy until this has resolved, and shows the error when it fails. */
  onProof: (proof: Proof) => Promise<unknown>
}) {
  const hasPasskey = ways.passkey && canUsePasskeys()
  const [isRecovery, setRecovery] = useState(!ways.authenticatorApp && !hasPasskey)
  const prove = useMutation({ mutationFn: onProof, onError() {} })
  const provePasskey = useMutation({ mutationFn: async () => onProof(await askForPasskey()), onError() {} })
  const problem = prove.error ?? provePasskey.error
  const errors = toFieldErrors(problem)
  const fieldError = errors.code ?? errors.recoveryCode
  const isBusy = prove.isPending || provePasskey.isPending
  function submit(fields: FormData) {
    const text = String(fields.get('code'))
    provePasskey.reset()
    prove.mutate(isRecovery ? { recoveryCode: text } : { code: text })
  }
  return (
    <>
      {problem && !fieldError && <FormError>{errors.general ?? problem.message}</FormError>}
      {hasPasskey && !isRecovery && (
        <Button
          variant={ways.authenticatorApp ? 'secondary' : 'primary'}
          icon={<Fingerprint size={16} />}
          busy={isBusy}
          autoFocus={!ways.authenticatorApp}
          onClick={() => provePasskey.mutate()}
        >
          Use a passkey
        </Button>
      )}
      {(ways.authenticatorApp || isRecovery) && (
        <Form className="grid gap-4" onSubmit={submit}>
          {isRecovery ? <RecoveryCodeField error={fieldError} /> : <CodeField error={fieldError} />}
          <Button type="submit" variant="primary" busy={isBusy}>
            {action}
          </Button>
        </Form>
      )}
      {ways.recoveryCode && (ways.authenticatorApp || hasPasskey) && (
        <button
          type="button"
          className="justify-self-start text-sm text-link"
          onClick={() => {
            prove.reset()
            provePasskey.reset()
            setRecovery(!isRecovery)
          }}
        >
          {isRecovery ? 'Use another way' : 'Use a recovery code'}
        </button>
      )}
    </>
  )
}

const CodeField = ({ error }: { error: string | undefined }) => (
  <TextField
    label="Code"
    name="code"
    required
    autoFocus
    inputMode="numeric"
    autoComplete="one-time-code"
    maxLength={20}
    hint="The six digits that your authenticator app shows."
    error={error}
  />
)

const RecoveryCodeField = ({ error }: { error: string | undefined }) => (
  <TextField
    label="Recovery code"
    name="code"
    required
    autoFocus
    {...CODE_INPUT}
    maxLength={40}
    hint="One of the codes that you saved. Each works once."
    error={error}
  />
)
