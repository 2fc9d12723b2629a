// Logs that this server cannot send mail: once for each fault, not for each mail it holds up.

import { log } from '../../../lib/log.ts'
import type { DeliveryResult } from '../channels/contract.ts'

export function createMailFaultLog() {
  let logged: string | null = null
  return {
    /** @param isMail whether the attempt went out as an email */
    note(isMail: boolean, { outcome, answer, operatorFault }: DeliveryResult) {
      if (operatorFault) {
        if (answer !== logged) log.warn('mail_not_sent', { answer })
        logged = answer
      } else if (isMail && outcome === 'delivered') logged = null
    },
  }
}
