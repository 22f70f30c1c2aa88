"""Emoji by name: a small table of common ones; other names stay text.

Codes are dash-separated hexadecimal code points, as `emoji_code` is on the wire.
"""

from hashlib import sha256

import orjson

_TABLE = """
+1 1f44d|thumbs_up 1f44d|-1 1f44e|thumbs_down 1f44e|100 1f4af|1234 1f522|alarm_clock 23f0
angry 1f620|anguished 1f627|ant 1f41c|apple 1f34e|arrow_down 2b07|arrow_left 2b05
arrow_right 27a1|arrow_up 2b06|astonished 1f632|baby 1f476|balloon 1f388|banana 1f34c
bar_chart 1f4ca|beach 1f3d6|bear 1f43b|bee 1f41d|beer 1f37a|beers 1f37b|bell 1f514|bike 1f6b2
bird 1f426|birthday 1f382|blush 1f60a|boat 26f5|bomb 1f4a3|book 1f4d6|bookmark 1f516|books 1f4da
boom 1f4a5|bow 1f647|brain 1f9e0|broken_heart 1f494|bug 1f41b|bulb 1f4a1|bus 1f68c
butterfly 1f98b|cactus 1f335|cake 1f370|calendar 1f4c5|camera 1f4f7|car 1f697|cat 1f408
celebration 1f389|chart_with_upwards_trend 1f4c8|check 2705|check_mark 2705|checkered_flag 1f3c1
cheese 1f9c0|cherries 1f352|clap 1f44f|clipboard 1f4cb|cloud 2601|clown 1f921|coffee 2615
computer 1f4bb|confetti 1f38a|confused 1f615|construction 1f6a7|cookie 1f36a|cool 1f60e
cow 1f404|crab 1f980|cricket 1f997|crossed_fingers 1f91e|cross_mark 274c|crown 1f451|cry 1f622
dancer 1f483|dart 1f3af|diamond 1f48e|disappointed 1f61e|dizzy 1f635|dog 1f415|dolphin 1f42c
dragon 1f409|droplet 1f4a7|duck 1f986|eagle 1f985|ear 1f442|egg 1f95a|elephant 1f418|email 1f4e7
exclamation 2757|eyes 1f440|facepalm 1f926|fear 1f628|fire 1f525|fireworks 1f386|fish 1f41f
fist 270a|flag 1f3f4|flushed 1f633|football 1f3c8|fox 1f98a|frog 1f438|frown 1f641
game_die 1f3b2|gear 2699|gem 1f48e|ghost 1f47b|gift 1f381|gift_heart 1f49d|globe 1f310
goal 1f945|grapes 1f347|green_heart 1f49a|grin 1f600|grinning 1f600|guitar 1f3b8|hammer 1f528
hamster 1f439|happy 1f600|hatching 1f423|hear_no_evil 1f649|heart 2764|heart_eyes 1f60d
heart_pulse 1f497|heavy_check_mark 2714|high_five 1f590|honey 1f36f|horse 1f40e|hot_dog 1f32d
hotel 1f3e8|hourglass 23f3|house 1f3e0|hug 1f917|hundred 1f4af|ice_cream 1f368|imp 1f47f
inbox 1f4e5|innocent 1f607|joy 1f602|key 1f511|kiss 1f617|kitten 1f431|koala 1f428|ladybug 1f41e
laptop 1f4bb|laughing 1f606|leaves 1f343|lemon 1f34b|lightning 26a1|link 1f517|lion 1f981
lipstick 1f484|lobster 1f99e|lock 1f512|loudspeaker 1f4e2|mag 1f50d|magnet 1f9f2|mail 1f4eb
map 1f5fa|medal 1f3c5|mega 1f4e3|microphone 1f3a4|microscope 1f52c|money 1f4b0|monkey 1f412
moon 1f319|motorcycle 1f3cd|mountain 26f0|mouse 1f401|mushroom 1f344|muscle 1f4aa|music 1f3b5
nail_care 1f485|nerd 1f913|neutral 1f610|newspaper 1f4f0|no_entry 26d4|nose 1f443|notebook 1f4d3
notes 1f3b6|octopus 1f419|ok 1f44c|ok_hand 1f44c|open_hands 1f450|open_mouth 1f62e|orange 1f34a
owl 1f989|package 1f4e6|palm_tree 1f334|panda 1f43c|paperclip 1f4ce|parrot 1f99c
party_popper 1f389|peach 1f351|pencil 270f|penguin 1f427|phone 260e|piano 1f3b9|pig 1f416
pin 1f4cd|pineapple 1f34d|pizza 1f355|point_down 1f447|point_left 1f448|point_right 1f449
point_up 1f446|poop 1f4a9|popcorn 1f37f|pray 1f64f|printer 1f5a8|purple_heart 1f49c
puzzle_piece 1f9e9|question 2753|rabbit 1f407|rage 1f621|rainbow 1f308|raised_hands 1f64c
rat 1f400|recycle 267b|relieved 1f60c|repeat 1f501|ribbon 1f380|rice 1f35a|ring 1f48d
robot 1f916|rocket 1f680|rose 1f339|runner 1f3c3|sad 1f641|sailboat 26f5|sandwich 1f96a
santa 1f385|satellite 1f6f0|scissors 2702|scream 1f631|see_no_evil 1f648|seedling 1f331
shark 1f988|sheep 1f411|shield 1f6e1|ship 1f6a2|shrimp 1f990|shrug 1f937|skull 1f480
sleeping 1f634|sleepy 1f62a|smile 1f642|smiley 1f603|smirk 1f60f|snail 1f40c|snake 1f40d
sneezing 1f927|snowflake 2744|snowman 26c4|sob 1f62d|sound 1f509|space_invader 1f47e
sparkler 1f387|sparkles 2728|speaker 1f508|speak_no_evil 1f64a|spider 1f577|squid 1f991
star 2b50|star_struck 1f929|stop_sign 1f6d1|strawberry 1f353|stuck_out_tongue 1f61b|sun 2600
sunflower 1f33b|sunglasses 1f60e|sunny 2600|sunrise 1f305|sunset 1f307|surfer 1f3c4|sushi 1f363
sweat 1f613|sweat_smile 1f605|taco 1f32e|tada 1f389|target 1f3af|taxi 1f695|tea 1f375
telescope 1f52d|tennis 1f3be|thinking 1f914|thought 1f4ad|ticket 1f3ab|tiger 1f405|time 1f557
toilet 1f6bd|tools 1f6e0|tooth 1f9b7|train 1f686|tree 1f333|triangular_flag 1f6a9|trophy 1f3c6
truck 1f69a|tulip 1f337|turtle 1f422|umbrella 2602|unicorn 1f984|unlock 1f513|upside_down 1f643
v 270c|vampire 1f9db|volcano 1f30b|walking 1f6b6|warning 26a0|wastebasket 1f5d1|watch 231a
watermelon 1f349|wave 1f44b|weary 1f629|whale 1f40b|wheel 2638|whisky 1f943|wind 1f32c
wine 1f377|wink 1f609|wolf 1f43a|working_on_it 1f6e0|world_map 1f5fa|worried 1f61f|wrench 1f527
writing 270d|yawning 1f971|yellow_heart 1f49b|yum 1f60b|zap 26a1|zebra 1f993|zipper_mouth 1f910
zombie 1f9df
"""

EMOJI: dict[str, str] = {
    name: code
    for line in _TABLE.strip().splitlines()
    for name, code in (entry.split(" ") for entry in line.split("|"))
}
"""Name -> code."""


_names_by_code: dict[str, list[str]] = {}
for _name, _code in EMOJI.items():
    _names_by_code.setdefault(_code, []).append(_name)
DATA = orjson.dumps({"code_to_names": _names_by_code})
"""The emoji that clients offer: code -> names, the preferred one first; JSON."""
DATA_PATH = f"/static/emoji-{sha256(DATA).hexdigest()[:12]}.json"
"""The path in pages/emoji.py. A changed table has a new path, because clients cache it."""
