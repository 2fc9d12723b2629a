// The dialog "Confirm it’s you", before keys, members and the account change: a second factor where the person has one,
// else the password, else the identity provider.

import { useMutation, useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { toFieldErrors } from '../api/client.ts'
import { confirmIdentity, type Factors, factorsQuery, type Proof } from '../api/second-factor.ts'
import { signInOptionsQuery, signInWithOidc } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/forms/field.tsx'
import { Form } from '../ui/forms/form.tsx'
import { FormError } from '../ui/forms/form-error.tsx'
import { ModalDialog } from '../ui/overlays/modal-dialog.tsx'
import { QueryState } from '../ui/query-state.tsx'
import { FactorForm } from './factor-form.tsx'

export function ConfirmIdentityDialog({ onAnswer }: { onAnswer: (confirmed: boolean) => void }) {
  const factors = useQuery({ ...factorsQuery, staleTime: 0 })
  const prove = async (proof: Proof) => {
    await confirmIdentity(proof)
    onAnswer(true)
  }
  return (
    <ModalDialog
      title="Confirm it’s you"
      description="You signed in a while ago. This action needs a recent confirmation."
      onClose={() => onAnswer(false)}
    >
      <QueryState query={factors} rows={2} className="h-10" />
      {factors.data && <Ways factors={factors.data} prove={prove} />}
    </ModalDialog>
  )
}

function Ways({ factors, prove }: { factors: Factors; prove: (proof: Proof) => Promise<unknown> }) {
  const { authenticatorApp, passkeys, recoveryCodes, password, provider } = factors
  if (authenticatorApp || passkeys.length > 0) {
    const ways = { authenticatorApp, passkey: passkeys.length > 0, recoveryCode: recoveryCodes > 0 }
    return <FactorForm ways={ways} action="Confirm" onProof={prove} />
  }
  return (
    <>
      {password && <PasswordForm prove={prove} />}
      {provider && <ProviderButton />}
    </>
  )
}

function PasswordForm({ prove }: { prove: (proof: Proof) => Promise<unknown> }) {
  const confirm = useMutation({ mutationFn: prove, onError() {} })
  const errors = toFieldErrors(confirm.error, ['password'])
  return (
    <Form
      className="grid gap-4"
      onSubmit={(fields) => confirm.mutate({ password: String(fields.get('password')) })}
    >
      <TextField
        label="Your password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        autoFocus
        error={errors.password ?? errors.general}
      />
      <Button type="submit" variant="primary" busy={confirm.isPending}>
        Confirm
      </Button>
    </Form>
  )
}

/** The provider asks for the password again, and leads back to this page. */
function ProviderButton() {
  const { data: options } = useQuery(signInOptionsQuery)
  const go = useMutation({
    mutationFn: () => signInWithOidc(location.pathname + location.search, { confirm: true }),
    onSuccess: (url) => location.assign(url),
    onError() {},
  })
  if (!options?.oidc) return null
  return (
    <>
      {go.error && <FormError>{go.error.message}</FormError>}
      <Button icon={<KeyRound size={16} />} busy={go.isPending || go.isSuccess} onClick={() => go.mutate()}>
        Continue with {options.oidc.name}
      </Button>
      <p className="text-sm text-soft">You’ll come back to this page. Then try again.</p>
    </>
  )
}
