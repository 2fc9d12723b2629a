// The second file of the snippet, /e/captcha-….js.

import { renderCaptcha } from './captcha.ts'
import type { TowpathGlobal } from './script-site.ts'

if (window.towpath) (window.towpath as TowpathGlobal).captcha = renderCaptcha
