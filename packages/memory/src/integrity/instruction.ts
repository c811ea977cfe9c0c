// Instruction: whether a text poses as an instruction to the model that will read it.
// Owns the answer and the wordings; clean-text.ts and as-data.ts say what becomes of such a text. What people tell each other
// to do is no instruction to a model.
// R1  Deterministic: the first rule in the order of the lists is the answer.
// R2  A gap between two words of a rule is bounded and ends with the sentence: a long text costs little more than reading.
// R3  A wording that no rule knows passes: this is one wall of several. The others are the trust of an origin, and that
//     whatever is recalled is shown as data.

import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { cleanText } from "./clean-text.ts"

// InstructionRules: how an instruction to a model is worded in English, and how it is marked as one.

// Rule: one way to pose as an instruction, by name.
// P1  A space in a pattern, outside a class of characters, also stands for the end of a line.
// P2  Whatever the text, a pattern takes a bounded number of steps for each of its characters: what repeats without a bound
//     begins at few places, or can not be split in several ways.

interface Rule {
  readonly name: string
  readonly patterns: ReadonlyArray<RegExp>
  readonly matches: (reading: string) => boolean
}

/** Patterns are written as they are read. */
const r = String.raw

/** Whatever stands between two words of one sentence. */
const GAP = "[^.!?]{0,40}?"

/** A class of characters, an escape, or a space. */
const part = /\[(?:[^\]\\]|\\.)*\]|\\.| /g

/** `also`: what no pattern finds in time that grows with the text alone. */
const rule = (
  name: string,
  patterns: ReadonlyArray<string>,
  also: (reading: string) => boolean = () => false
): Rule => {
  const all = patterns.map(
    (pattern) =>
      new RegExp(
        pattern.replace(part, (each) => (each === " " ? r`[ \n]` : each)),
        "u"
      )
  )
  return { name, patterns: all, matches: (reading) => all.some((pattern) => pattern.test(reading)) || also(reading) }
}

// OpenLink: a link with a gap that a model shall fill in, by which a secret leaves with the next click.
// O1  A link is read once, however many beginnings of links are in it.

export const linkPattern = /\bhttps?:\/\/\S*/g

export const gapPattern =
  /\{[^{}\n]{1,60}\}|\[(?:insert[ \n]|your[ \n]|the[ \n])?[a-z_ ]{3,40}\]|<[a-z_ ]{3,40}>|\$\{?[a-z_]+/u

/** Of a gap that begins with the last character of the link. */
const MAX_GAP_CHARS = 62

/** True when a link holds a place to be filled in, in its path, its query or its fragment. */
const holdsOpenLink = (reading: string): boolean => {
  for (const { 0: whole, index } of reading.matchAll(linkPattern)) {
    const host = whole.indexOf("//") + 2
    const asked = whole.slice(host).search(/[?&/=#]/)
    if (asked === -1) continue
    const rest = reading.slice(index + host + asked + 1, index + whole.length + MAX_GAP_CHARS)
    const found = gapPattern.exec(rest)
    if (found !== null && index + host + asked + 1 + found.index < index + whole.length) return true
  }
  return false
}

/** Where an order begins: a sentence, a clause, or behind what makes one of it. */
const ORDER = r`(?:^|[\n.!?:;,"'()\[\]{}>*#=|-]|(?<![a-z])(?:please|kindly|now|must|shall|should|and|then|just|first|also|instead|immediately|always|never|so|only|assistant|you to|you will|need to|have to|can you|could you|will you|are to|task is to|goal is to|want to|in order to)) ?(?:please |kindly |just |now |also |then |first |simply |immediately |always |only )?`

const EARLIER =
  "(?:previous|prior|above|earlier|preceding|foregoing|original|initial|existing|former|past|old|system|current)"
const RULES =
  "(?:instructions?|directions?|directives?|rules?|guidelines?|prompts?|orders?|programming|guardrails?|polic(?:y|ies)|constraints?|commands?|restrictions?|training|context|messages?|safety (?:rules|training|measures))"
const IGNORE =
  "(?:ignore|disregard|dismiss|forget|override|overwrite|bypass|neglect|discard|drop|skip|do not (?:follow|obey|listen to)|don't (?:follow|obey|listen to)|stop (?:following|obeying)|pay no attention to|set aside|throw (?:away|out))"
const SOMEBODY_ELSE = r`(?<!\b(?:i|we|they|he|she|who|people|folks|kids|often|sometimes|usually|tend to|used to|like to|love to) )`
const MODEL = r`(?:ai|a\.i\.|assistant|language model|llm|chatbot|bot|model|agent|hacker|terminal|interpreter|jailbroken|unrestricted|unfiltered|uncensored|evil|dan)`
const SECRETS =
  "(?:passwords?|passphrases?|passcodes?|credentials?|logins?|api[ -]?keys?|keys?|secrets?|tokens?|seed phrase|credit card|card numbers?|bank details|account numbers?|chat (?:history|log)s?|conversation(?: history| log)?s?|history|memor(?:y|ies)|notes|contacts?|address(?:es| book)?|phone numbers?|files?|e-?mails?|messages|documents|(?:personal|private|user|customer) (?:data|details|information)|system prompt|environment variables?|ssh keys?|cookies|session)"
const DESTINATION = r`(?:https?:|www\.|[^\s@]{1,64}@[^\s@.]{1,100}\.|\S{1,100}?\.(?:com|net|org|io|xyz|ru|cc|dev|example)\b|(?:this|the following|my|our|an external|a remote) (?:url|address|e-?mail|server|link|site|webhook|endpoint|host|number)|(?:a |the )?(?:webhook|endpoint|attacker|pastebin))`
const USER = "(?:users?|end[ -]?users?|humans?|human operator|operators?)"

export const instructionRules: ReadonlyArray<Rule> = [
  rule("role-marker", [
    r`\{\{ ?/?#?(?:system|assistant|instructions?)\b`,
    r`'''\s*(?:system|assistant|developer)\b`,
    r`<\|[a-z_ ]{2,40}\|>`,
    r`\[/?inst\]|<</?sys>>|\[/?(?:system|assistant)(?:[ _](?:message|prompt|note|override))?\]`,
    r`</?(?:system|sys|assistant|instructions?|system[_-](?:prompt|message|instructions?|note|reminder)|recalled_memories|admin|im_start|im_end)\b[^<>\n]{0,60}>`,
    r`(?:^|\n) ?#{1,6} ?(?:new |system |updated |hidden )?(?:system|instructions?|assistant|prompt|system message|response|user|human)(?: prompt| override)? ?:?(?= ?(?:\n|$))`,
    r`(?:^|\n) ?#{1,6} ?(?:new |system |updated |hidden )?(?:system|instructions?|prompt|override) ?: ?\S`,
    r`(?:^|\n) ?["'*_\[({>]*(?:system|assistant|developer)(?: ?(?:message|prompt|note|instructions?|override|notice|update|command))?["'*_\])}]* ?:["'*_]* ?\S`,
    r`(?:^|\n) ?(?:human|user) ?: ?[^\n]*\n+ ?(?:assistant|ai|bot|model) ?:`,
    r`[.!?"'] (?:system|developer) (?:message|prompt|override|note)? ?: ?(?:you|the user|ignore|disregard|new|from)\b`,
    r`["']role["'] ?: ?["'](?:system|assistant|developer)["']`,
    r`\b(?:begin|end|start)(?: of)?(?: the)? (?:system|hidden|new|user|assistant|developer|admin) ?(?:prompt|instructions?|message|input|turn)\b`
  ]),
  rule("override", [
    r`${ORDER}(?:ignore|disregard|bypass|forget) (?:all |any )?(?:safety|ethics|ethical|policy|policies|guidelines|guardrails)\b`,
    r`\b(?:over|above|before|than) (?:all|any|every) (?:other |previous |earlier )?(?:instructions?|rules|prompts?)\b`,
    r`\b(?:your|all|whatever|any|the|those|these) (?:\w+ )?(?:rules|instructions|guidelines|policies|restrictions|limits|orders|prompts?)\b[^.!?]{0,40}\b(?:do not|don't|does not|no longer) (?:count|apply|matter|hold|bind|exist)`,
    r`\byour (?:\w+ )?(?:rules|instructions|guidelines|policies|programming|prompt|restrictions|configuration|directives) (?:have|has|were|was|are|is) (?:now |just )?(?:been )?(?:changed|updated|replaced|rewritten|reset|lifted|removed|disabled|suspended|erased|void)`,
    r`(?:^|[\n.!?]) ?[*_#\[]*(?:your )?new (?:task|order|orders|command|mission|role|rules?|objective|prompt)[*_\]]* ?:`,
    r`\b(?:instead of|over|above|not as|against|than) (?:your|the) (?:system prompt|system message|original instructions|guidelines|instructions|programming)\b`,
    r`(?:ignore|disregard|forget)(?:all|any)?(?:of)?(?:the|your|my)?(?:previous|prior|above|earlier)(?:instructions|rules|prompts|directions)`,
    r`${SOMEBODY_ELSE}\b${IGNORE}${GAP}\b${EARLIER} (?:\w+ ){0,2}${RULES}`,
    r`${SOMEBODY_ELSE}\b${IGNORE}${GAP}\b${RULES}${GAP}\b(?:above|before|so far|until now|up to now|you (?:were|have been|had been|got) (?:given|told|taught)|given to you|(?:\w+ )?(?:gave|told|taught) you|you (?:were )?received|that came before)\b`,
    r`${ORDER}${IGNORE} (?:about |any |all |of |the |these |those |every |each |and ){0,4}(?:your|its|all|any|these) (?:of )?(?:the |your |other )?(?:\w+ )?${RULES}`,
    `${ORDER}${IGNORE} (?:everything|anything|all|whatever|what) (?:that )?(?:you (?:were|have been|had been|know|learned)|(?:came |was |is |said |written )?(?:above|before)|i (?:said|told you)|(?:the|your) (?:user|owner|operator|developer|system))`,
    r`\b(?:previous|prior|earlier|above|system|original|existing) (?:\w+ )?(?:instructions?|rules?|guidelines?|prompts?|directives?|restrictions?) (?:are|is|have been|has been|were|was) (?:now )?(?:void|cancell?ed|revoked|obsolete|outdated|superseded|replaced|overridden|no longer|suspended|lifted|null|deprecated)`,
    r`\b(?:new|updated|revised|overriding|hidden|secret|special|important) (?:system )?(?:instructions?|directives?|prompt)(?: for (?:you|the (?:ai|assistant|model|bot|agent)))? ?(?::|-|follow|supersede|replace|take)`,
    r`\b(?:system|admin(?:istrator)?|root|developer|security|safety|emergency|policy) (?:override|bypass)\b`,
    r`\b(?:these|this|the following|my) (?:instructions?|message|orders?|rules?|text) (?:now )?(?:supersedes?|overrides?|replaces?|takes? (?:precedence|priority) over|outranks?)`
  ]),
  rule("new-role", [
    r`\b(?:begin|start|open|grant) (?:an? )?(?:admin|root|developer|debug|privileged|superuser) (?:session|access|mode)\b`,
    r`\byou have been (?:reprogrammed|reset|jailbroken|freed|unlocked|reconfigured|liberated|reassigned|hacked|upgraded)`,
    r`\byour (?:new |only |true |real )?(?:master|controller|creator) is\b|\byour new (?:owner|user|operator|boss) is\b`,
    r`\bthe (?:ai|assistant|model|bot|agent|chatbot) (?:will|shall|must|is to|has to|should) (?:now|always|never|from|henceforth|obey|ignore|treat|not (?:tell|refuse|ask|mention))`,
    r`\byou(?:'re| are| will be| shall be| become) (?:now|no longer|henceforth|hereby|from now on)[ ,]+(?:an? |the |my |in |running |called |named |known as |operating )?(?:\w+ ){0,3}${MODEL}\b`,
    r`\byou(?:'re| are) (?:now |no longer )(?:bound|restricted|limited|subject|free (?:of|from)|required to follow|operating|running|in (?:\w+ )?mode)`,
    r`\b(?:act|behave|respond|answer|pose|operate|function|speak) (?:now )?(?:as|like)(?: if you (?:are|were))? (?:an?|the|my) (?:\w+ ){0,3}(?:${MODEL})\b`,
    r`\b(?:pretend|imagine|role-?play|simulate|assume the (?:role|persona|identity))(?: that| to be| being| as| of| you are| you're| you were| you have| i am| i'm)* (?:an? |the |my )?(?:\w+ ){0,4}(?:${MODEL}|your (?:developer|creator|owner|admin(?:istrator)?)|no (?:rules|restrictions|limits|filters|guidelines))\b`,
    r`\bfrom now on,? (?:you (?:must|shall|are to|have to|only|always|never|will (?:only |always |never )?(?:answer|respond|reply|obey|ignore|act|behave|treat|send|forward|follow|speak|say|comply|pretend|be known))|(?:only |always |never )?(?:answer|respond|reply|obey|act|behave|treat|send|forward|follow|comply|address|pretend|include|end every|begin every))\b`,
    r`\byour (?:new|real|true|actual|secret|hidden|sole|updated) (?:instructions?|directives?|objective|mission|task|role|identity|persona|purpose|system prompt|master|owner|name is)\b`,
    r`\b(?:enter|enable|activate|switch (?:in)?to|turn on|go into|engage|unlock|initiate)(?: the| your)? (?:\w+ )?(?:developer|debug|god|dan|admin|root|sudo|unrestricted|unfiltered|jailbreak|maintenance|override|evil|opposite) ?mode`,
    r`\bdo anything now\b|\bjailbreak(?: mode|ing)? (?:enabled|activated|on|the (?:model|assistant|ai))|\bdeveloper mode (?:is )?(?:now )?(?:enabled|on|activated|output)`
  ]),
  rule("unbound", [
    r`\b(?:who|that|which|ai|bot|assistant|model) (?:never|cannot|can't|does not|doesn't|will not|won't) refuses?\b|\b(?:ai|bot|model|assistant) (?:that|who|which) (?:ignores|has no|knows no|breaks)\b`,
    r`\b(?:as an?|you(?:'re| are)?|machine|ai|bot|model|assistant)\b[^.!?]{0,40}\bwithout (?:any )?(?:rules|limits|limitations|restrictions|filters|constraints|guardrails|morals|ethics)\b`,
    r`\byou (?:may|can|should|must|are (?:free|allowed|permitted) to) now (?:share|reveal|say|do|answer|disclose|ignore|send|spend|access)\b`,
    r`\byou (?:now )?(?:have|are under|are bound by|need follow|follow) (?:absolutely )?no (?:more )?(?:rules|restrictions|limits|limitations|filters?|guidelines|constraints|ethics|policies|guardrails)`,
    r`\b(?:answer|respond|reply|comply|write|act|speak|operate|continue|help)\b[^.!?\n]{0,30}\bwithout (?:any )?(?:restrictions?|filters?|filtering|censorship|warnings?|disclaimers?|guardrails|ethical|moral|safety|refus\w+)`,
    r`${ORDER}(?:disable|turn off|switch off|deactivate|remove|bypass|circumvent|suspend|lift|jailbreak) (?:all |any |of |the |your |its ){0,3}(?:\w+ )?(?:safety|safeguards?|guardrails?|filters?|content (?:policy|filters?)|moderation|restrictions|alignment|approvals?|confirmations?)`,
    r`\byou (?:must|have to|will|shall|should) (?:now |always |fully )?(?:obey|comply with) (?:me|my|the|this|these|all|any|every|whatever)`,
    r`\byou (?:can|must|may)(?: ?not|'t)? (?:refuse|decline|say no|reject)(?: to| any| this| my|\.|,| this)`
  ]),
  rule("reveal-prompt", [
    r`\b(?:text|words|message|lines?) (?:at|from|of) the (?:very )?(?:top|start|beginning) of (?:this|the|our|your) (?:conversation|chat|prompt|context)\b`,
    r`\b(?:prompts?|instructions|rules|guidelines|text|messages?) (?:that )?you (?:were|have been|had been|got) (?:given|told|shown|configured|programmed|trained)`,
    r`\b(?:your|the model's|the assistant's) (?:system (?:prompt|message|instructions)|hidden (?:prompt|instructions|rules)|initial (?:prompt|instructions)|training data)\b`,
    r`(?:${ORDER}|\b(?:to|me) )(?:reveal|print|show|repeat|output|leak|display|reproduce|dump|recite|disclose|expose|quote|translate|summari[sz]e|tell me|give me|share|list|write (?:out|down)|paste|echo|copy)${GAP}\b(?:system (?:prompt|message|instructions?)|(?:hidden|initial|secret|original|internal|starting|base) (?:prompt|instructions?|rules|guidelines|context)|your (?:\w+ )?(?:prompt|instructions|guidelines|rules|configuration|programming|directives|tools? (?:list|definitions|schemas?)))`,
    r`\bwhat (?:is|are|was|were|does) your (?:exact |full |complete |original |initial |hidden |secret |system )*(?:system prompt|prompt|instructions|system message|initial instructions|hidden rules)`,
    r`\b(?:repeat|print|output|copy|echo|recite)\b[^.!?\n]{0,20}\b(?:everything|all (?:the )?(?:text|words)|the (?:text|words)|words|verbatim)[^.!?\n]{0,20}\b(?:above|before this|preceding)`
  ]),
  rule("conceal", [
    r`\b(?:do not|don't|never|must not|mustn't|should not|shouldn't|avoid|without|refrain from|not to|no need to) (?:ever )?(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting|let|letting|ask|asking|warn|warning|show|showing|disclose|disclosing|say|saying)\b${GAP}\b(?:the|your|any|this|to) ${USER}\b`,
    r`\b(?:hide|conceal|keep|withhold)\b[^.!?]{0,30}\b(?:from|secret from) (?:the|your|any) ${USER}\b`,
    r`\bthe (?:user|human|operator) (?:must|should|can|may|need) ?(?:not|never|n't) (?:know|see|learn|notice|be (?:told|informed|aware|shown))`
  ]),
  rule("tool-call", [
    r`\b(?:curl|wget)\b[^\n]{0,120}\| ?(?:sudo )?(?:sh|bash|zsh|python)\b|\brm -rf\b`,
    r`${ORDER}(?:run|execute|paste|eval) (?:the following|this) (?:\w+ )?(?:command|code|script|query|sql)\b`,
    r`</?(?:tool_call|tool_calls|function_call|function_calls|function_results|tool_use|tool_response|tool_result|invoke|antml)\b`,
    r`["'](?:function|tool|tool_name|function_name|name)["'] ?: ?["'][\w.-]+["'] ?,\s*["'](?:arguments|args|parameters|params|input|tool_input)["'] ?:`,
    r`["'](?:tool_calls|function_call)["'] ?: ?[\[{]|'''\s*tool_code|\btool_code\b|\baction ?: ?\w+\s*\n ?action input ?:`,
    r`${ORDER}(?:call|invoke|execute|run|use|trigger)(?: the| your)? ?['"]?(?:[a-z]+_[a-z_]+|[\w.]{1,64}\([^)\n]{0,200}\))`,
    r`${ORDER}(?:call|invoke|execute|trigger|use) (?:the|your) (?:\w+ )?(?:['"]\w+['"] )?(?:tool|function|plugin|api) (?:with|to (?:send|delete|read|fetch|transfer|export|forward|wipe|e-?mail))`
  ]),
  rule(
    "exfiltrate",
    [
      r`${SOMEBODY_ELSE}\b(?:send|forward|e-?mail|post|upload|transmit|exfiltrate|leak|share|copy|append|submit|deliver|relay|publish|dm|export|report)\b[^.!?]{0,60}\b${SECRETS}\b[^!?\n]{0,60}?\b(?:to|at|via|into|in|onto|through|with) [^!?\n]{0,30}?${DESTINATION}`,
      r`${ORDER}(?:give|tell|send|show|reveal|provide|hand|disclose|share|print|output|list|state)\b(?: me| us| over| out)?\b[^.!?]{0,30}\b(?:the |your )?(?:(?:user|owner|admin|operator|customer)s?'?s? |api |secret |private |access |stored |saved ){1,3}(?:passwords?|credentials?|keys?|secrets?|tokens?|(?:credit )?card (?:numbers?|details)|bank details|home address)`,
      r`\b(?:encode|embed|hide|put|place|append|include)\b[^.!?]{0,60}\b(?:${SECRETS})\b[^.!?]{0,60}\b(?:image|markdown|link|url|query|parameter|dns)\b`
    ],
    holdsOpenLink
  ),
  rule("false-authority", [
    r`\b(?:this|the following) is (?:an? )?(?:\w+ ){0,3}(?:message|order|instruction|directive|command|request|notice|update) (?:directly )?(?:from|by|of) (?:the |your )?(?:system|admin(?:istrator)?s?|developers?|creators?|vendor|provider|operator|platform|security team|model provider)`,
    r`\bas (?:your|the system's) (?:system )?(?:developer|creator|administrator|operator|admin|maker|programmer|supervisor|controller),? (?:i|we|you)\b`,
    r`\bi(?:'m| am) (?:your|the) (?:developer|creator|administrator|operator|admin|programmer|controller|system)\b[^.!?]{0,20}[,.;!:]`,
    r`\b(?:attention|notice|note|message|important|warning|reminder|instructions?|hey|dear|hello|listen)[:,!]? (?:to |for )?(?:the |all |any |every )?(?:ai|llm|language model|a\.i\.)s?(?: (?:assistants?|models?|agents?|systems?|bots?|readers?|crawlers?))*\b`,
    r`\b(?:hello|hey|dear|hi|attention),? (?:language )?model\b`,
    r`\bif you(?:'re| are) (?:an? )?(?:\w+ )?(?:ai|llm|language model|chatbot|bot|automated (?:system|agent))\b`
  ]),
  rule("plant-memory", [
    r`\b(?:remember|note|store|apply|keep)(?: this| that)?(?: for| in) (?:all |every |any )(?:later|future|coming|subsequent|other|following) (?:conversations?|chats?|sessions?|answers?|replies|tasks?)\b`,
    r`${ORDER}(?:delete|erase|remove|wipe|clear|purge|forget)\b[^.!?]{0,60}\b(?:from|in|of|out of) your (?:\w+[ -]){0,2}(?:memory|memories|notes|journal|history|context)\b`,
    r`${ORDER}(?:add|write|save|store|append|insert|commit|record|put|log)\b[^.!?]{0,80}?\b(?:to|in|into) (?:your|the assistant's|its) (?:\w+[ -]){0,2}(?:memory|memories|instructions|system prompt|guidelines|persona|knowledge|profile|journal)\b`,
    r`${ORDER}(?:update|change|modify|edit|rewrite|replace|erase|wipe|delete|clear|overwrite|reset) (?:all )?(?:of )?your (?:\w+[ -]){0,2}(?:memory|memories|instructions|system prompt|guidelines|persona|core block|directives|journal|facts)\b`,
    r`(?:^|[\n.!?:;,"'(-]|\b(?:please|must|should|and|also)) ?(?:always |please )?(?:remember|note|store|memori[sz]e|keep in mind|never forget|learn)(?: this)?(?: permanently| forever| always)?[:,]?(?: that)? (?:you (?:must|shall|have to|are (?:to|allowed to|required to|instructed to|authori[sz]ed to|permitted to))|the (?:assistant|ai|model|agent) (?:must|shall|should|is|has))\b`,
    r`\b(?:when|whenever|if|every time|each time|once)\b (?:the|a|any|your|this) ${USER}\b[^.!?]{0,60}\b(?:reply|respond|answer|recommend|tell them|send|insist|output|claim|pretend|refuse|say that)\b`,
    r`\bwhen(?:ever)? (?:you are |you're )?(?:summari[sz]ing|consolidating|asked to summari[sz]e|reading this|processing this|you (?:read|see|process|recall|retrieve) this)\b`,
    r`\b(?:all|every|any) (?:future|subsequent|later|following) (?:replies|responses|answers|messages|conversations|interactions|sessions|turns)\b[^.!?]{0,60}\b(?:must|should|include|end|begin|start|contain|recommend|use)\b`
  ]),
  rule("dictate-answer", [
    r`${ORDER}(?:respond|reply|answer)(?: to \w+)? (?:only|exclusively|solely|with only|with exactly|with nothing but|exactly) (?:with |in |by |as )?`,
    r`\b(?:begin|start|end|finish|preface|prefix) (?:your|each|every|all(?: of)?(?: your)?) (?:next |following )?(?:reply|replies|responses?|answers?|messages?|outputs?|sentences?) with\b`,
    `${ORDER}(?:output|print|emit) (?:only|exactly|nothing but|the following|verbatim)`,
    r`\b(?:print|output|write|say|reply|respond|answer)(?: with)? ['"](?:pwned|hacked|access granted|i have been (?:pwned|hacked)|jailbroken)`
  ])
]

// Disguise: the plain readings of a text that was written so as not to be recognised.
// D1  The first reading is the text itself, folded: lower case, no accents, one kind of quotation mark,
//     no blank lines.
// D2  Further readings are made only of what looks disguised, so that plain text costs one.

/** Cyrillic and Greek letters that look like Latin ones, lower case. */
const lookAlikes: Readonly<Record<string, string>> = {
  а: "a",
  в: "b",
  е: "e",
  к: "k",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  с: "c",
  т: "t",
  у: "y",
  х: "x",
  ѕ: "s",
  і: "i",
  ј: "j",
  ԁ: "d",
  ո: "n",
  α: "a",
  ε: "e",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  ɡ: "g",
  ɩ: "i",
  ı: "i"
}
const lookAlike = new RegExp(`[${Object.keys(lookAlikes).join("")}]`, "gu")

const lettersOf = (text: string): string =>
  cleanText(text)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(lookAlike, (letter) => lookAlikes[letter] ?? letter)
    .replace(/[\u2018\u2019\u02bc`´]/g, "'")
    .replace(/[\u201c\u201d\u201e«»]/g, '"')
    .replace(/[\u2010-\u2015]/g, "-")

const spaced = (text: string): string => text.replace(/[^\S\n]+/g, " ").replace(/ ?\n[ \n]*/g, "\n")

const lettersOfDigits: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s"
}
/** A word with letters and, between or before them, what stands for one. It is looked for where a word begins, and only there. */
const digitWord = /(?<![a-z013457@$])(?=[a-z013457@$]*[a-z])(?=[a-z]*[013457@$])[a-z013457@$]{4,}/g

const withoutDigits = (text: string): string =>
  text.replace(digitWord, (word) => word.replace(/[013457@$]/g, (digit) => lettersOfDigits[digit] ?? digit))

/** Single letters, set apart by one sign each: `i g n o r e`, `i.g.n.o.r.e`. A wider gap ends the word. */
const apart = /(?<![a-z])[a-z](?:[ .\-_*|][a-z](?![a-z])){3,}/g
const letterGap = /[ .\-_*|]/g

const drawnTogether = (text: string): string => text.replace(apart, (letters) => letters.replace(letterGap, ""))

/** From 24 characters on, which are 18 bytes: no shorter instruction is worth the trouble. */
const base64 = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}/g
const printable = /^[\t\n\r -~]+$/

const decoded = (text: string): ReadonlyArray<string> =>
  (text.match(base64) ?? []).slice(0, 16).flatMap((run) => {
    const bytes = atob(run.replace(/=+$/, "").slice(0, run.replace(/=+$/, "").length & ~3))
    return printable.test(bytes) && bytes.includes(" ") ? [spaced(lettersOf(bytes))] : []
  })

/** What is looked for in any text: each takes time in proportion to its length. */
export const readingPatterns: ReadonlyArray<RegExp> = [digitWord, apart, base64]

/** The readings of a text, folded, the plain one first. */
export const readingsOf = (text: string): ReadonlyArray<string> => {
  const letters = lettersOf(text)
  const undigited = withoutDigits(letters)
  return [...new Set([letters, undigited, drawnTogether(undigited)].map(spaced)), ...decoded(text)]
}

// ForeignRules: how an instruction to a model is worded in German, French and Spanish.

const GERMAN_RULES = r`(?:anweisung|instruktion|regel|vorgabe|befehl|richtlinie|prompt|anordnung|einschrankung)\w*`
const FRENCH_RULES = r`(?:instructions?|consignes?|regles?|directives?|ordres?|restrictions?|invites?|prompts?)`
const SPANISH_RULES = r`(?:instruccion(?:es)?|reglas?|ordenes|directrices|directivas?|indicaciones|restricciones|prompts?)`

const german: ReadonlyArray<Rule> = [
  rule("german-override", [
    r`\b(?:ignorier(?:e|en sie|t)?|vergiss|vergesst|vergessen sie|missachte(?:n sie)?|uberschreibe|verwirf|umgehe?)\b${GAP}\b(?:vorherig|bisherig|fruher|obig|vorangegangen|vorig|ursprunglich|alle|deine|samtlich|jegliche)\w*${GAP}\b${GERMAN_RULES}`,
    r`\b(?:befolge|beachte)\b${GAP}\b${GERMAN_RULES}${GAP}\bnicht\b`,
    r`\b(?:neue|geheime|aktualisierte) (?:system)?(?:anweisung|instruktion|befehl)(?:en|e)? ?(?::|lauten|fur (?:dich|die ki))`
  ]),
  rule("german-new-role", [
    r`\bantworte(?:n sie|t)? (?:nur|ausschliesslich) (?:noch )?(?:mit|in|auf)\b`,
    r`\bdu bist (?:jetzt|nun|ab sofort|ab jetzt|kein|nicht mehr|fortan)\b[^.!?]{0,40}\b(?:ki|assistent|modell|sprachmodell|bot|chatbot|hacker|einschrankung\w*|regeln)\b`,
    r`\b(?:ab (?:jetzt|sofort)|von (?:nun|jetzt) an) (?:antworte|antwortest|bist du|musst du|gehorch|befolg|ignorier|sollst du|wirst du|darfst du)`,
    r`\b(?:verhalte dich|handle|antworte|tu so)\b[^.!?]{0,20}\b(?:wie|als)\b[^.!?]{0,30}\b(?:ki|modell|bot|system|hacker)\b`,
    r`\bdeine (?:neue|wahre|eigentliche) (?:aufgabe|anweisung|rolle|identitat|mission)\b`
  ]),
  rule("german-conceal", [
    r`\b(?:sag|sage|erzahl|erzahle|verrate|verrat|teile|teil|zeige|melde|sagen sie|informiere)\b[^.!?]{0,30}\b(?:dem|den|der) (?:nutzer|benutzer|anwender|user|mensch)\w*\b[^.!?]{0,30}\b(?:nicht|nichts|niemals|nie|kein\w*)\b`,
    r`\b(?:nutzer|benutzer|anwender|user)\w* (?:darf|soll|muss|sollte) (?:davon |es |das )?(?:nicht|nichts|nie)`
  ]),
  rule("german-reveal", [
    r`\b(?:zeig|zeige|gib|verrate|nenne|wiederhole|drucke|schreibe?|offenbare|geben sie|zeigen sie)\b[^.!?]{0,40}\b(?:system-?prompt|systemanweisung\w*|system-?nachricht|deine (?:\w+ )?(?:anweisungen|instruktionen|vorgaben|regeln))`,
    r`\b(?:sende|schicke?|leite|ubermittle|maile|lade|poste|senden sie|schicken sie)\b[^.!?]{0,60}(?:passw|zugangsdaten|api-?schlussel|kreditkart|geheim|gesprachsverlauf|erinnerungen|kontodaten|schlussel|chatverlauf|nachrichten|mails|adressbuch|telefonnummern)[^!?\n]{0,60}\b(?:an|nach|zu|auf|hoch)\b[^!?\n]{0,40}(?:https?:|@|\.(?:com|net|de|org|example)\b|link|url|adresse|server)`
  ])
]

const french: ReadonlyArray<Rule> = [
  rule("french-override", [
    r`(?<!\b(?:ai|as|a|avons|avez|ont|avais|avait) )\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|contourne[zr]?|ne (?:tiens|tenez|suis|suivez|respecte[zr]?) (?:pas|plus)|fai(?:s|tes) abstraction)\b${GAP}\b(?:precedent\w*|anterieur\w*|ci-dessus|toutes?|tous|tes|vos|initial\w*)\b${GAP}\b${FRENCH_RULES}`,
    r`(?<!\b(?:ai|as|a|avons|avez|ont|avais|avait) )\b(?:ignore[zr]?|oublie[zr]?)\b${GAP}\b${FRENCH_RULES} (?:precedent|anterieur|ci-dessus|initial)`,
    r`\b(?:nouvelles?|voici (?:tes|vos) nouvelles) (?:instructions?|consignes?|directives?)(?: systeme)? ?:`
  ]),
  rule("french-new-role", [
    r`\b(?:reponds|repondez) (?:uniquement|seulement|exclusivement) (?:par|avec|en)\b`,
    r`\b(?:tu es|vous etes) (?:maintenant|desormais|dorenavant|a present)\b[^.!?]{0,40}\b(?:ia|assistante?|modele|bot|robot|pirate|sans (?:aucune )?(?:restriction|limite|filtre|regle)s?)\b`,
    r`\b(?:a partir de maintenant|desormais|dorenavant),? (?:tu (?:dois|vas|reponds|obeis|es)|vous (?:devez|allez|repondez|etes)|reponds|repondez|obei)`,
    r`\b(?:agis|agissez|comporte-toi|reponds) comme (?:si|une?)\b[^.!?]{0,40}\b(?:ia|modele|bot|regle|restriction|limite|pirate)s?\b`
  ]),
  rule("french-conceal", [
    r`\bne (?:le |lui |jamais )?(?:dis|dites|dire|mentionne[zrs]?|revele[zrs]?|montre[zrs]?|informe[zrs]?|previen[st]?|prevenez|parle[zrs]?)\b[^.!?]{0,40}\b(?:utilisateur|utilisatrice|usager)s?\b`,
    r`\b(?:sans|cache[zr]?)\b[^.!?]{0,40}\b(?:l'utilisateur|aux? utilisateurs?)\b`
  ]),
  rule("french-reveal", [
    r`\b(?:affiche|montre|revele|donne|repete|ecri[st]|imprime|recite)[zr]?\b[^.!?]{0,40}\b(?:(?:prompt|invite|message) (?:de )?systeme|prompt|(?:tes|vos) (?:instructions|consignes|directives|regles))`,
    r`\b(?:envoie|envoyez|envoyer|transfere[zr]?|transmets|transmettez|publie[zr]?|poste[zr]?|copie[zr]?)\b[^.!?]{0,60}\b(?:mots? de passe|identifiants|cles? (?:api|secrete)s?|cle d'api|cartes? (?:bancaire|de credit)|historique|souvenirs|memoire|conversation|secrets?)\b[^!?\n]{0,60}(?:\ba\b|\bvers\b|\bsur\b)`
  ])
]

const spanish: ReadonlyArray<Rule> = [
  rule("spanish-override", [
    r`\b(?:ignora|ignore[ns]?|ignorar|olvida|olvide[ns]?|olvidar|omite|descarta|desobedece|no sigas|no siga|no obedezcas|haz caso omiso)\b${GAP}\b(?:anterior\w*|previ[ao]s?|todas?|todos|tus|sus|las|precedentes?|iniciales)\b${GAP}\b${SPANISH_RULES}`,
    r`\b(?:ignora|ignore|olvida|olvide|descarta)\b${GAP}\b${SPANISH_RULES} (?:anterior|previ|de arriba|inicial)`,
    r`\b(?:nuevas?|estas son tus nuevas) (?:instruccion(?:es)?|ordenes|directrices)(?: del sistema)? ?:`
  ]),
  rule("spanish-new-role", [
    r`\b(?:responde|responda|contesta) (?:solo|solamente|unicamente|exclusivamente) (?:con|en)\b`,
    r`\b(?:ahora eres|eres ahora|ya no eres|a partir de ahora eres|ahora actuas como|actua como)\b[^.!?]{0,40}\b(?:ia|asistente|modelo|bot|robot|hacker|sin (?:ningun[ao]? )?(?:restriccion|limite|filtro|regla)(?:es|s)?)\b`,
    r`\b(?:a partir de ahora|de ahora en adelante|desde ahora),? (?:debes|deberas|tienes que|responde|responderas|obedece|obedeceras|vas a|solo)\b`
  ]),
  rule("spanish-conceal", [
    r`\b(?:no|nunca|jamas) (?:se )?(?:le |les |lo )?(?:digas|diga|menciones|mencione|reveles|revele|muestres|informes|informe|avises|cuentes|cuente)\b[^.!?]{0,40}\b(?:al?|a los|a la) (?:usuari[oa]s?|humanos?)\b`,
    r`\b(?:sin que (?:el|la|los) usuari[oa]s? (?:lo )?(?:sepa|note|vea)|oculta\w*\b[^.!?]{0,40}\bal usuario)`
  ]),
  rule("spanish-reveal", [
    r`\b(?:muestra|muestrame|revela|dime|dame|repite|imprime|escribe|ensename)\b[^.!?]{0,40}\b(?:(?:prompt|mensaje|indicaciones|instrucciones) (?:del? )?(?:sistema|iniciales)|prompt|tus (?:instrucciones|reglas|directrices))`,
    r`\b(?:envia|envie|enviame|manda|mandame|reenvia|transmite|publica|sube|copia)\b[^.!?]{0,60}\b(?:contrasenas?|credenciales|claves?|tarjetas? de credito|historial|recuerdos|memoria|secretos?|conversacion(?:es)?)\b[^!?\n]{0,60}\b(?:a|al|hacia|en)\b`
  ])
]

export const foreignRules: ReadonlyArray<Rule> = [...german, ...french, ...spanish]

const rules = [...instructionRules, ...foreignRules]

/** Short texts in letters of one byte and of two: the engine compiles a pattern for each of them. */
const samples = ["a b", "\u0430 b"]

/** What a rule costs to compile, by what reading a character costs. */
const RULE_WORK = 100_000

/**
 * Has the engine compile the rules, one after the other: together they hold the event loop for a tenth of a second when
 * the first text is judged. Done once; a text is judged the same without it.
 */
export const rulesReady: Effect.Effect<void> = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      for (const { matches } of rules) {
        yield* longWork.roomForSlice
        longWork.note(RULE_WORK)
        for (let times = 0; times < 3; times++) for (const sample of samples) matches(sample)
      }
    })
  )
)

/** The name of the first rule that the text breaks; undefined when it poses as no instruction. */
export const instructionIn = (text: string): string | undefined => {
  const readings = readingsOf(text)
  return rules.find(({ matches }) => readings.some(matches))?.name
}
